"""Where answers come from: one module per API."""
