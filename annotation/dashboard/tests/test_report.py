"""Tests of the report's page: its drawings, and the figures of predictions handed in."""

import json
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from annotation.dashboard import report_views as page_of_report
from annotation.protocols.contracts import REPORT
from annotation.protocols.iirc.tests.island import island
from annotation.protocols.quac.tests.talks import SENTENCES, question, write
from annotation.release.official_import import Source, import_official_files
from annotation.tables.labels import tables_of_labels
from collector.protocols.loading import get_protocol
from collector.protocols.stage_tables import read_scheme
from tasks.models import Question
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db
PAGE = "/collections/talks/report/"
SCHEME = Path(settings.BASE_DIR, "annotation/protocols/bookqa/labels/questions.toml")
TALK = [
    question("What did she write?", "the first notes", SENTENCES[0]),
    question("What else?", None, None),
]


@pytest.fixture
def _talks(tmp_path: Path, rita: Client) -> None:
    content = write(tmp_path / "val.json", TALK).read_bytes()
    import_official_files("talks", "quac", {"val.json": content}, Source(), timezone.now())


def predictions(span: str, dialog: str = f"C_{0:032x}_0") -> SimpleUploadedFile:
    """Return a file of predictions that answers both questions with `span`."""
    line = {
        "qid": [f"{dialog}_q#{turn}" for turn in range(2)],
        "best_span_str": [span] * 2,
        "yesno": ["x"] * 2,
        "followup": ["m"] * 2,
    }
    return SimpleUploadedFile("mine.jsonl", json.dumps(line).encode())


@pytest.mark.usefixtures("_talks")
def test_shares_are_drawn_as_bars_and_maps_beside_their_figures(rita: Client) -> None:
    page = rita.get(PAGE).content.decode()
    assert "Chunk of the answer by turn" in page
    assert '<rect width="100%" height="100%" fill-opacity="1.0"/></svg><span>100</span>' in page
    assert '<rect class="bar-done" width="0.5" height="1"/></svg><span>50.0 %</span>' in page
    assert "style=" not in page.partition("<main")[2]


def test_a_flow_is_drawn_over_the_table_that_tells_its_numbers(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_collection(slug="pilot")
    facets = read_scheme(SCHEME).facets()
    labels = {facet.name: facet.choices[0].value for facet in facets}
    tables = tables_of_labels([labels] * 3, facets, "Three are labelled.")
    monkeypatch.setattr("annotation.reports.collection.tables_of", lambda collection: tables)
    page = rita.get("/collections/pilot/report/").content.decode()
    _, _, drawn = page.partition('<svg class="flow"')
    flow, _, rest = drawn.partition("</table>")
    assert 'role="img" aria-label="From ' in flow
    assert "3, 100 % of its items</title>" in flow
    assert '<th scope="row">Concept relation</th>' in flow
    assert "Three are labelled." in rest
    assert "<style" not in page
    assert "style=" not in page.partition("<main")[2]


@pytest.mark.usefixtures("_talks")
def test_a_table_without_figures_says_what_brings_them(rita: Client) -> None:
    Question.objects.update(synthetic=True)
    page = rita.get(PAGE).content.decode()
    _, _, people = page.partition("How far people agree</h2>")
    card, _, _ = people.partition("</section>")
    assert "<table" not in card
    assert "publish the stage validation" in card


@pytest.mark.usefixtures("_talks")
def test_every_table_says_in_its_head_what_is_simulated(rita: Client) -> None:
    assert "simulated work" not in rita.get(PAGE).content.decode()
    Question.objects.update(synthetic=True)
    shown = rita.get(PAGE).content.decode().split('<section class="card')[1:]
    heads = [table.partition("<table")[0] for table in shown]
    told = "2 of 2 questions.</p>"
    counted, left_out = f"With simulated work: {told}", f"Simulated work is left out: {told}"
    *others, _pay = heads
    assert all(counted in head or left_out in head for head in others)
    people = next(table for table in shown if "How far people agree" in table)
    assert left_out in people
    assert "<tbody>" not in people
    answer = rita.post(PAGE, {"predictions": predictions("CANNOTANSWER")}).content.decode()
    assert counted in answer


@pytest.mark.usefixtures("_talks")
def test_predictions_are_scored_beside_people_and_forgotten(rita: Client) -> None:
    answer = rita.post(PAGE, {"predictions": predictions("CANNOTANSWER")})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Scores of the predictions" in page
    assert "mine.jsonl, scored against what is kept now" in page
    assert "Chunk of the answer" not in page
    assert "Scores of the predictions" not in rita.get(PAGE).content.decode()


@pytest.mark.usefixtures("_talks")
def test_what_cannot_be_scored_is_said_by_the_file_s_own_name(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = SimpleUploadedFile("<b>.jsonl", b"[]")
    answer = rita.post(PAGE, {"predictions": wrong})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "&lt;b&gt;.jsonl, line 1: give an object" in page
    assert "Chunk of the answer by turn" in page
    other = rita.post(PAGE, {"predictions": predictions("", dialog="C_9")}).content.decode()
    assert "mine.jsonl: None of the predictions is for a question" in other
    assert "Choose a file" in rita.post(PAGE).content.decode()
    monkeypatch.setattr(page_of_report, "MAX_BYTES", 3)
    large = rita.post(PAGE, {"predictions": predictions("")}).content.decode()
    assert "mine.jsonl: it is too large" in large


def test_a_protocol_without_figures_of_predictions_asks_for_none(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = make_collection(slug="pilot")
    report = get_protocol(collection.protocol).part(REPORT)
    monkeypatch.delattr(sys.modules[report.tables.__module__], page_of_report.PREDICTED)
    page = rita.get("/collections/pilot/report/").content.decode()
    assert "How does a system do?" not in page
    answer = rita.post("/collections/pilot/report/", {"predictions": predictions("")})
    assert answer.status_code == 422


def test_each_table_is_handed_out_as_csv_and_its_shares_as_a_drawing(rita: Client) -> None:
    island()
    page = rita.get("/collections/pilot/report/").content.decode()
    assert 'href="/collections/pilot/report/types.svg" download' in page
    answer = rita.get("/collections/pilot/report/types.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="pilot-types.csv"'
    assert answer.content.decode().startswith("type,questions,share,share low,share high,share of")
    drawing = rita.get("/collections/pilot/report/types.svg")
    assert drawing["Content-Type"] == "image/svg+xml"
    assert b"Wilson" in drawing.content
    assert rita.get("/collections/pilot/report/nothing.csv").status_code == 404
