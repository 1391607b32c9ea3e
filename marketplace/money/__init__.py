"""Amounts, credit, what is owed and what was paid."""
