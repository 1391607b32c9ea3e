"""Bonuses for much and for quick accepted work: counted, held in the budget, paid once, told."""
