"""The report tells what each rule drew, what one passage answers, and what second readers found."""

from typing import Any

import pytest

from annotation.protocols.rag import report
from annotation.protocols.rag.tests.records import (
    QUAY,
    collection,
    mark,
    passage,
    question,
    seed,
    vote,
)
from collector.protocols.loading import get_protocol

pytestmark = pytest.mark.pure


def tables(seeds: Any) -> dict[str, list[dict[str, Any]]]:
    found = report.tables(seeds, get_protocol("rag").parameters())  # type: ignore[arg-type]
    return {
        table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for table in found
    } | {"notes": [{table.name: table.note} for table in found]}


def test_it_counts_what_was_drawn_asked_and_found() -> None:
    alone = question(
        "Who rebuilt the quay of Staithby?",
        vote("answer", "Ines Corvel", mark(QUAY, "Ines Corvel"), chosen=True, worker="w1"),
        vote("answer", "Corvel", mark(QUAY, "Corvel"), payload={"searches": ["quay", "Staithby"]}),
    )
    alone["verdict"]["reason"] = "single_passage"
    lost = question("Who sank it?", vote("answer", "Nobody", worker="w1"), vote("none"))
    lost["verdict"] |= {"outcome": "dropped", "reason": "not_found"}
    found = tables([*collection(), seed(alone, lost)])
    size = {row["measure"]: (row["all"], row["dev"]) for row in found["size"]}
    assert size["questions"] == (4, 3)
    assert size["of them not in the documents"] == (1, 1)
    assert size["of them asked without reading"] == (1, 0)
    assert size["passages with evidence"] == (3, 2)
    drawing = {row["rule"]: row for row in found["drawing"]}
    told = drawing["shared_terms"]
    assert (told["wanted share"], told["drawn share"], told["sets"]) == (0.45, 1.0, 2)
    assert (told["questions"], told["kept"], told["skips"]) == (4, 3, 2)
    assert told["single passage share"] == 1 / 3
    assert drawing["single"]["sets"] == 0
    assert "Of 3 documents 2 were shown to somebody who asks, 1 never." in str(found["notes"])
    [reading] = found["second_reading"]
    assert (reading["questions"], reading["readers"]) == (4, 4)
    assert reading["same as the writer share"] == 0.75
    asked = {(row["asked"], row["verdict"]): row["questions"] for row in found["asked"]}
    assert asked["drawn", "not_found"] == asked["natural", "agreed"] == 1


def test_a_set_is_counted_once_somebody_has_written_about_it_or_skipped_it() -> None:
    natural_or_drawn = seed(skips=0)
    found = tables([natural_or_drawn, seed(skips=1), *collection()])
    told = next(row for row in found["drawing"] if row["rule"] == "shared_terms")
    assert (told["sets"], told["skips"], told["questions"]) == (2, 2, 2)
    # So are its documents.
    unmet = passage("unmet.md", "Unmet", 0, "Nobody was shown this.")
    found = tables([*collection(), seed(skips=0, passages=[unmet])])
    assert "Of 3 documents 2 were shown to somebody who asks, 1 never." in str(found["notes"])


def test_without_a_question_it_says_so() -> None:
    found = tables([])
    assert "No question is in the dataset yet" in str(found["notes"])
    assert found["second_reading"] == []
