"""Candidate sets: which pages pairs are drawn from, proposed, looked at, kept or dropped."""
