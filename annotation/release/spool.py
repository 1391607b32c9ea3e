"""Holds a collection's records in a file while a release is written, so that all its parts agree.

The database is read once; every file of the release is made from what was read then.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from annotation.release.shape import IMPORTED, SeedRecord, is_kept


class Spool:
    """A file of one seed a line, read as often as needed."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(
        self, seeds: Iterable[SeedRecord], advance: Callable[[], object] = lambda: None
    ) -> "Spool":
        """Write `seeds`, calling `advance` after each; returns self."""
        with self.path.open("w", encoding="utf-8") as file:
            for seed in seeds:
                file.write(json.dumps(seed, ensure_ascii=False) + "\n")
                advance()
        return self

    def seeds(self) -> Iterator[SeedRecord]:
        """Yield all seeds with all their questions."""
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)

    def of_split(self, split: str) -> Iterator[SeedRecord]:
        """Yield the seeds that the split's file holds, each with its kept questions there alone.

        A seed without one is left out, unless it was read from a file that has it so.
        """
        for seed in self.seeds():
            questions = [
                question
                for question in seed["questions"]
                if is_kept(question) and question["split"] == split
            ]
            if questions or (IMPORTED in seed["payload"] and seed["fold"] == split):
                yield {**seed, "questions": questions}
