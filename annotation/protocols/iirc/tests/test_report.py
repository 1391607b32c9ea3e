"""The paper's tables say what the rows hold, and what they do not hold yet."""

import pytest

from annotation.decisions.records import records
from annotation.protocols.iirc.report import tables
from annotation.protocols.iirc.tests.island import TEXTS, island
from annotation.reports.collection import tables_of
from annotation.tables.table import Cell, markdown
from annotation.tables.terminal import table_lines
from annotation.tests.making import make_answer, span
from collector.models import Collection
from collector.protocols.creation import parameters_of
from tasks.models import Question

pytestmark = pytest.mark.django_db


def report(collection: Collection) -> dict[str, dict[Cell, list[Cell]]]:
    """Return the rows of each table by their first cell."""
    made = tables(records(collection), parameters_of(collection))
    return {table.name: {row[0]: list(row[1:]) for row in table.rows} for table in made}


def test_the_tables_of_a_small_collection() -> None:
    found = report(island())
    assert found["size"]["questions"] == [5, 2, 1, 2]
    assert found["size"]["passages"] == [3, 1, 1, 1]
    assert found["size"]["links per passage"] == [7 / 3, 3.0, 2.0, 2.0]
    assert found["size"]["distinct initial trigrams"] == [5, 2, 1, 2]
    assert found["links"] == {
        "0": [1, 0.2, 1.0],
        "1": [3, 0.6, 0.0],
        "2": [1, 0.2, 0.0],
        "3": [0, 0.0, None],
        "4+": [0, 0.0, None],
    }
    assert found["types"]["Words from a text"] == [2, 0.4]
    assert found["agreement"]["dev"] == [3, 2, 0.5, 1 / 6, 1.0]
    assert found["agreement"]["test"] == [3, 2, 1.0, 1.0, 1.0]
    assert found["human_performance"] == {}


def test_an_unanswerable_question_needs_the_links_that_its_writer_picked() -> None:
    collection = island()
    asked = Question.objects.get(text="Who built the school?")
    asked.payload = {**asked.payload, "links": ["Hollin", "Port Ellan"]}
    asked.save()
    found = report(collection)["links"]
    assert found["0"] == [0, 0.0, None]
    assert found["2"] == [2, 0.4, 0.5]


def test_the_parts_of_a_dataset_are_called_splits_as_on_the_pages() -> None:
    collection = island()
    made = tables(records(collection), parameters_of(collection))
    columns = next(table.columns for table in made if table.name == "agreement")
    assert columns[0] == "split"


def test_an_empty_collection_has_a_report_too() -> None:
    collection = island()
    collection.seeds.update(stage=collection.stages.get(name="question_qualification"))
    found = report(collection)
    assert found["size"]["links per passage"] == [None] * 4
    assert found["types"]["No answer"] == [0, None]
    assert found["agreement"]["dev"] == [3, 0, None, None, None]
    notes = {table.name: table.note for table in tables_of(collection)}
    assert notes["links"].startswith("Counted by")


def test_second_readings_are_scored_against_the_released_answers() -> None:
    collection = island()
    test = Question.objects.filter(seed__fold="test").order_by("position")
    both, nobody, waiting = test
    found_in = [span("Port Ellan", "1702", TEXTS["Port Ellan"])]
    make_answer(both, "span", worker="edith", stage="human_performance", spans=found_in)
    make_answer(nobody, worker="edith", stage="human_performance")
    make_answer(nobody, "bad", worker="ruth", stage="human_performance")
    make_answer(waiting, worker="edith", stage="human_performance")
    performance = report(collection)["human_performance"]
    assert performance["questions"] == [3]
    assert performance["exact match %"] == [pytest.approx(100 / 3)]
    # One of two spans is found: half of the F1; none is right; bad scores nothing.
    assert performance["F1 %"] == [pytest.approx(50)]
    assert report(collection)["agreement"]["test"][1] == 2


def told_of_performance(collection: Collection) -> str:
    """Return what stands beside the table of people's second readings."""
    return next(one.note for one in tables_of(collection) if one.name == "human_performance")


def test_simulated_annotators_are_no_people() -> None:
    collection = island()
    before = report(collection)
    assert told_of_performance(collection).startswith("Not collected yet: publish the stage")
    both = Question.objects.filter(seed__fold="test").order_by("position")[0]
    make_answer(both, worker="edith", stage="human_performance", synthetic=True)
    last = both.answers.filter(stage__name="answer").latest("pk")
    assert report(collection) == before
    assert told_of_performance(collection).startswith("Only simulated workers have done it yet")
    last.synthetic = True
    last.save()
    # Two people are too few where three are asked.
    assert report(collection)["agreement"]["test"][1] == 1
    assert before["agreement"]["test"][1] == 2
    found = {table.name: table for table in tables_of(collection)}
    assert found["agreement"].simulated.startswith("Simulated work is left out: 2 of ")
    assert "Simulated work is left out" in markdown(found["size"])
    Question.objects.filter(seed__fold="test").update(synthetic=True)
    found = {table.name: table for table in tables_of(collection)}
    assert found["size"].simulated.startswith("With simulated work: 3 of ")
    assert (
        table_lines([found["size"]], in_colour=False)
        .split("\n")[1]
        .startswith("With simulated work")
    )
    assert found["agreement"].rows[-1][2] == 0
