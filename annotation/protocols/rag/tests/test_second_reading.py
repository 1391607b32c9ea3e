"""Second readers tell what one passage answers and what nothing does, over real prose."""

import dataclasses
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.rag import simulated
from annotation.protocols.rag.validation import verdict, vote
from collector.protocols.loading import get_protocol
from collector.retrieval.passages import PassageIndex, build
from collector.seeds.tests.planted import prose
from tasks.simulation.behaviour import DILIGENT
from tasks.work.passages import with_tokens

pytestmark = pytest.mark.pure
QUESTIONS, RESULTS = 60, 10


@pytest.fixture(scope="module")
def paragraphs(data: Path) -> list[dict[str, Any]]:
    books = prose(data / "books")
    return [
        {"document": f"book {number}", "paragraph": place, "text": text, "lang": "en"}
        for number, book in enumerate(books)
        for place, text in enumerate(book)
    ]


@pytest.fixture(scope="module")
def index(paragraphs: list[dict[str, Any]]) -> PassageIndex:
    with tempfile.TemporaryDirectory() as folder:
        return PassageIndex(build(Path(folder), enumerate(one["text"] for one in paragraphs)))


def outcomes(
    paragraphs: list[dict[str, Any]], index: PassageIndex, *, careless: float
) -> dict[str, Counter[str]]:
    """Return the verdicts by what the writers said: an answer, or that there is none.

    careless: how many writers ask about the first of two passages alone.
    """
    writer = dataclasses.replace(DILIGENT, careless_question=careless, nonsense=0.0)
    reader = dataclasses.replace(DILIGENT, gives_up=0.0, wrong_answer=0.0, nonsense=0.0)
    parameters: Any = get_protocol("rag").parameters()
    rng = random.Random(f"read {careless}")

    def look_up(item: str, title: str) -> Any:
        document, mark, place = title.rpartition("#")
        if mark and (document, place) in named:
            return with_tokens(named[document, place])
        hits = index.search(title, RESULTS)
        return {"results": [paragraphs[hit.text] for hit in hits]}

    named = {(one["document"], str(one["paragraph"])): one for one in paragraphs}
    found: dict[str, Counter[str]] = {"answer": Counter(), "none": Counter()}
    for number in range(QUESTIONS):
        pair = [with_tokens(one) for one in rng.sample(paragraphs, 2)]
        page = {"kind": "evidence_question", "limits": {"max_skips": 0}}
        page["items"] = [{"id": str(number), "paragraphs": pair}]  # type: ignore[assignment]
        [asked] = simulated.fill(page, writer, rng, look_up)["questions"]  # type: ignore[misc]
        items = [{"id": "1", "question": asked["text"]}]
        sought = {"kind": "search_answer", "limits": {"min_searches": 2}, "items": items}
        [given] = simulated.fill(sought, reader, rng, look_up)["answers"]  # type: ignore[misc]
        votes = [vote(asked["type"], {**asked, "shown": 2}), vote(given["type"], given)]
        found[asked["type"]][verdict(votes, parameters, "dev").reason] += 1
    return found


def test_nine_of_ten_questions_that_one_passage_answers_are_known_as_such(
    paragraphs: list[dict[str, Any]], index: PassageIndex
) -> None:
    planted = outcomes(paragraphs, index, careless=1.0)["answer"]
    assert planted.total() > 30
    assert planted["single_passage"] >= 0.9 * planted.total()


def test_questions_that_need_both_passages_and_those_without_an_answer_are_told_apart(
    paragraphs: list[dict[str, Any]], index: PassageIndex
) -> None:
    found = outcomes(paragraphs, index, careless=0.0)
    assert found["answer"]["agreed"] >= 0.9 * found["answer"].total()
    assert found["answer"]["single_passage"] == 0
    assert found["none"].total() > 5
    assert found["none"]["not_in_documents"] >= 0.9 * found["none"].total()


def test_what_a_reader_finds_between_two_words_never_begins_or_ends_inside_another() -> None:
    passage = {"document": "d", "paragraph": 0, "lang": "en"}
    passage |= {"text": "He was at sea, as seen at night."}

    def look_up(item: str, title: str) -> Any:
        return with_tokens(passage) if title == "d#0" else {"results": [passage]}

    reader = dataclasses.replace(DILIGENT, gives_up=0.0, wrong_answer=0.0, nonsense=0.0)
    asked = simulated.BETWEEN.format(left="as", right="at") + "?"
    items = [{"id": "1", "question": asked}]
    sought = {"kind": "search_answer", "limits": {"min_searches": 2}, "items": items}
    [given] = simulated.fill(sought, reader, random.Random(1), look_up)["answers"]  # type: ignore[misc]
    assert given["evidence"] == [{"document": "d", "paragraph": 0, "start": 15, "end": 25}]
    assert given["short"] == "seen"
