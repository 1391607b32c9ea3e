"""Questions are put into their splits without their texts in memory."""

import tracemalloc

import pytest

from annotation.dashboard.tests.making import make_answer, make_question, make_verdict
from annotation.models import SplitAssignment
from annotation.splits.assignment import make_splits
from collector.models import Collection
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
