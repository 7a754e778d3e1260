"""A library in PostgreSQL, for a team: the record, an index over it, and vectors by pgvector."""
