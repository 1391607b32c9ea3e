"""Questions are put into their splits without their texts in memory."""

import tracemalloc

import pytest

from annotation.dashboard.tests.making import make_answer, make_question, make_verdict
from annotation.models import SplitAssignment
from annotation.splits import assignment
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import Facts
from collector.models import Collection
from tasks.models import Question
from tasks.tests.making import NOW, make_collection, stage_of

pytestmark = pytest.mark.django_db


def kept(collection: Collection, number: int, payload: dict[str, str]) -> None:
    """Keep so many questions, each with that much beside it."""
    for _ in range(number):
        question = make_question(stage_of(collection, "question"), payload=payload)
        answer = make_answer(question, stage_of(collection, "answer"), more=payload["more"])
        make_verdict(question, "kept", chosen=answer)


def test_what_is_placed_takes_no_memory_for_what_it_says() -> None:
    collection, text = make_collection(), "x" * 200_000
    kept(collection, 20, {"more": text})
    tracemalloc.start()
    try:
        counts = make_splits(collection, NOW)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(counts.values()) == SplitAssignment.objects.count() == 20
    assert peak < 10 * len(text)


def test_what_is_kept_while_splits_are_made_is_placed_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collection = make_collection()
    kept(collection, 2, {"more": ""})
    first = Question.objects.order_by("pk")[0]
    monkeypatch.setattr(assignment, "table_of", lambda collection: object())
    monkeypatch.setattr(assignment, "facts_of", lambda *_: {first.pk: Facts(True)})
    make_splits(collection, NOW)
    assert SplitAssignment.objects.get().question == first
