"""Checks LLM answers against the evidence their request carried, in front of the client, behind Envoy."""

__version__ = "0.1.0"
