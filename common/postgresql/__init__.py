"""Django's PostgreSQL, but for what it costs to know that a connection is still there."""
