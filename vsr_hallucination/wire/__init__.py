"""Envoy ext_proc messages: our protobuf subset, header maps, replies and mutations."""
