"""Accounts of workers and requesters: opened, signed in to, erased."""
