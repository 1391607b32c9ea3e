"""What a release keeps back: all but question and context of the splits that test systems.

A protocol's export names such splits in WITHHELD, each with the contexts that are published, and
writes their gold by `gold`. Only what this module lets through reaches a public file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from annotation.records.schema import IMPORTED, QuestionRecord, SeedRecord, is_kept

# Split -> names of the contexts that are published with its questions.
Withheld = Mapping[str, Sequence[str]]
NOTHING: Withheld = {}


class Told(NamedTuple):
    """A question of which a release tells: by stage and key, with its split and why it is there.

    split: blank of one that is left out of the dataset, whose votes are told.
    """

    stage: str
    key: str
    split: str
    reason: str


def public_records(seeds: Iterable[SeedRecord], withheld: Withheld) -> Iterator[SeedRecord]:
    """Yield the seeds that may be known, without the questions of withheld splits.

    A seed of such a question is not told at all, nor is what was asked about it and left out;
    unless a question about it is in the open anyway.
    """
    for seed in seeds:
        in_the_open, _ = _parted(seed, withheld)
        if in_the_open or not seed["questions"]:
            yield {**seed, "questions": in_the_open}


def withheld_records(seeds: Iterable[SeedRecord], withheld: Withheld) -> Iterator[SeedRecord]:
    """Yield what `public_records` leaves out."""
    for seed in seeds:
        _, kept_back = _parted(seed, withheld)
        if kept_back:
            yield {**seed, "questions": kept_back}


def told_by(seeds: Iterable[SeedRecord], withheld: Withheld) -> Iterator[Told]:
    """Yield every question of which a release tells, be it without its answers."""
    for seed in seeds:
        in_the_open, kept_back = _parted(seed, withheld)
        asked = (each for each in kept_back if is_kept(each) and each["split"] in withheld)
        for each in (*in_the_open, *asked):
            split = (is_kept(each) and each["split"]) or ""
            yield Told(each["stage"], each["key"], split, each.get("split_reason", ""))


def questions_alone(seeds: Iterable[SeedRecord], contexts: Sequence[str]) -> Iterator[SeedRecord]:
    """Yield the seeds of a withheld split as they are published: questions with these contexts.

    Of a question that was read from a published file, IMPORTED holds what was published.
    """
    for seed in seeds:
        yield {
            "id": "",
            "key": "",
            "fold": "",
            "payload": {},
            "passages": [],
            "questions": [_asked(question, contexts) for question in seed["questions"]],
        }


def _asked(question: QuestionRecord, contexts: Sequence[str]) -> QuestionRecord:
    payload, given = question["payload"], question.get("contexts", {})
    return {
        "id": question["id"],
        "key": "",
        "text": question["text"],
        "payload": {name: payload[name] for name in (IMPORTED,) if name in payload},
        "stage": question["stage"],
        "worker": None,
        "synthetic": question["synthetic"],
        "verdict": None,
        "split": question["split"],
        "votes": [],
        "contexts": {name: given[name] for name in contexts if name in given},
    }


def _parted(
    seed: SeedRecord, withheld: Withheld
) -> tuple[list[QuestionRecord], list[QuestionRecord]]:
    """Return the questions about the seed that may be known, and those that may not."""
    kept_back = [each for each in seed["questions"] if _may_test(each, withheld)]
    in_the_open = [each for each in seed["questions"] if not _may_test(each, withheld)]
    if kept_back and not any(each["split"] for each in in_the_open):
        return [], seed["questions"]
    return in_the_open, kept_back


def _may_test(question: QuestionRecord, withheld: Withheld) -> bool:
    """Return whether the question is in a withheld split, or was kept since splits were made."""
    if question["split"] or not withheld:
        return question["split"] in withheld
    verdict = question["verdict"]
    return verdict is not None and verdict["outcome"] == "kept"
