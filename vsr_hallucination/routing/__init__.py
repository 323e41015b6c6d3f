"""Recipe and decision selection from request-stage signals."""
