"""The gRPC service and the admin HTTP service: the only place with I/O on the answer's path."""
