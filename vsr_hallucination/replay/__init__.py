"""The audit record, its redaction, and the stores that keep it."""
