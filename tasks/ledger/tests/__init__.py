"""Bonuses are counted from what was accepted, held before, and owed once."""
