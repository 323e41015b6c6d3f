"""The configuration: schema, loading, cross-checks. Immutable objects come out."""
