"""Whole-product flows: a real browser, real PostgreSQL and Redis, the real marketplace."""
