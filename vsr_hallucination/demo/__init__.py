"""A whole set-up on loopback to see and try: Envoy, the filter, a scripted upstream, and a tour."""
