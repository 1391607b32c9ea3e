"""Holds a collection's records in files while a release is written, so that all its parts agree.

The database is read once; every file of the release is made from what was read then.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from annotation.records.schema import IMPORTED, SeedRecord, is_kept


class Spool:
    """Files of one seed a line, read as often as needed: one of all seeds, one of each split."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_split: dict[str, Path] = {}

    def fill(
        self, seeds: Iterable[SeedRecord], advance: Callable[[], object] = lambda: None
    ) -> "Spool":
        """Write `seeds`, calling `advance` after each; returns self."""
        with ExitStack() as stack:
            whole = stack.enter_context(self.path.open("w", encoding="utf-8"))
            opened: dict[str, IO[str]] = {}
            for seed in seeds:
                _write(whole, _without_contexts(seed))
                for split in _splits_of(seed):
                    if split not in opened:
                        path = self.path.with_name(f"{self.path.stem}-{len(opened)}.jsonl")
                        self.by_split[split] = path
                        opened[split] = stack.enter_context(path.open("w", encoding="utf-8"))
                    questions = [
                        each
                        for each in seed["questions"]
                        if is_kept(each) and each["split"] == split
                    ]
                    _write(opened[split], {**seed, "questions": questions})
                advance()
        return self

    def seeds(self) -> Iterator[SeedRecord]:
        """Yield all seeds with all their questions, but not what systems read to answer them."""
        yield from Lines(self.path)

    def of_split(self, split: str) -> Iterable[SeedRecord]:
        """Return the seeds that the split's file holds, each with its kept questions there alone.

        They are read anew each time they are gone through. A seed without such a question is left
        out, unless it was read from a file that has it so.
        """
        return Lines(self.by_split[split]) if split in self.by_split else ()


class Lines:
    """The seeds of one file, one a line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[SeedRecord]:
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def _splits_of(seed: SeedRecord) -> list[str]:
    found = {each["split"]: None for each in seed["questions"] if is_kept(each) and each["split"]}
    if IMPORTED in seed["payload"]:
        found[seed["fold"]] = None
    return [split for split in found if split]


def _without_contexts(seed: SeedRecord) -> SeedRecord:
    """Return the seed without the bulk of a release: ten passages and more for each question."""
    questions = [each.copy() for each in seed["questions"]]
    for each in questions:
        each.pop("contexts", None)
    return {**seed, "questions": questions}


def _write(file: IO[str], seed: SeedRecord) -> None:
    file.write(json.dumps(seed, ensure_ascii=False) + "\n")
