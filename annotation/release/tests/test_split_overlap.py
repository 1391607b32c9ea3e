"""The card of a release shows how much of the wording of one split stands in another."""

from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.contracts import EXPORT
from annotation.protocols.iirc.tests.island import island
from annotation.protocols.rag.tests.records import QUAY, mark, question, seed, vote
from annotation.release.release_files import overlap
from annotation.release.tests.test_files import release
from collector.protocols.loading import get_protocol

# Eleven words, seven runs of five.
MILL = "The old mill of Orrin was sold by two brothers twice"
SOLD = MILL.replace("twice", "once")


def told(protocol: str = "rag", **questions: list[Any]) -> list[list[Any]]:
    """Return the rows of what splits of some seeds have in common."""
    export = get_protocol(protocol).part(EXPORT)
    return [list(row) for row in overlap(questions, export).rows]


def about(text: str, *questions: Any) -> Any:
    return seed(*questions, passages=[{**QUAY, "text": text}])


def test_runs_of_five_words_that_two_splits_have_are_told_of_questions_and_passages() -> None:
    asked = question("Who sold the old mill of Orrin?"), question("Was it sold?")
    other = question("Who sold the old mill at Tarn?")
    found = told(train=[about(MILL, *asked)], dev=[], test=[about(SOLD, other)])
    assert found == [["test", "train", 1 / 3, 6 / 7]]
    assert told(train=[about(MILL, *asked)]) == []


def test_words_that_prove_an_answer_are_told_where_its_writer_read_none() -> None:
    proof = mark({**QUAY, "text": MILL}, MILL)
    answer = vote("answer", "two brothers", proof, chosen=True)
    natural = about("Nobody reads it.", question("Who sold it?", answer, stage="natural"))
    read = about(SOLD, question("Which mill was sold?"))
    assert told(train=[read], test=[natural]) == [["test", "train", 0.0, 6 / 7]]
    seems = vote("none", payload={"shown": 2, "plausible": [proof]}, chosen=True)
    natural = about("Nobody reads it.", question("Who sold it?", seems, stage="natural"))
    assert told(train=[read], test=[natural]) == [["test", "train", 0.0, 6 / 7]]


def test_words_of_linked_articles_that_prove_an_answer_are_told() -> None:
    proof = {"document": "Orrin", "start": 0, "end": len(MILL), "text": MILL}
    answer = vote("span", payload={"context": [proof]}, chosen=True, spans=[])
    linked = about("Nobody reads it.", question("Who sold it?", answer))
    read = about(SOLD, question("Which mill was sold?", answer | {"payload": {}}))
    # The three words that were read are one run.
    assert told("iirc", train=[read], test=[linked]) == [["test", "train", 0.0, 6 / 8]]


@pytest.mark.django_db
def test_the_card_of_a_release_has_it(tmp_path: Path) -> None:
    folder = release(island(), tmp_path / "out")
    assert "### The same words in two splits" in (folder / "README.md").read_text()
    rows = (folder / "tables" / "overlap.csv").read_text().splitlines()
    assert rows[1].startswith("dev,train,")
