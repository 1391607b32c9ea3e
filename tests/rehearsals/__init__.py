"""Crowds and bad days: run by `make rehearse`, too long for the suite."""

import os

# REHEARSAL_SHARE=0.1 rehearses with a tenth of the people.
SHARE = float(os.environ.get("REHEARSAL_SHARE", "1"))


def part_of(number: int) -> int:
    """Return how many of so many take part in this rehearsal."""
    return max(2, round(number * SHARE))
