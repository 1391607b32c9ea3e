"""Who takes part in collections of these tests, and what they read."""

import csv
from pathlib import Path

SUMMARY = (
    "At the end of a long winter Marta, a ferryman's niece, burns a letter that her uncle Josef "
    "has forged. She hides the miller from the bailiff until the flood has carried the mill away. "
    "The bailiff Anselm searches the ferry in vain, and Josef admits what he has done to Marta."
)
WRITERS, READERS = ("AADA", "AGRACE"), ("AEDITH", "AIDA")


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
