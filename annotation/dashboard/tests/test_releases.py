"""Tests of making releases and of looking at them."""

import hashlib
import io
import json
import time
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_answer, make_question, make_verdict, send
from annotation.dashboard.tests.test_collections import queries
from annotation.jobs import do_long_work, look_after_what_is_due
from annotation.models import Release, ReleaseOrder, Statement, Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.release import publish_release as publishing
from annotation.release.publish_release import PublishedRelease, publish_release
from annotation.splits.assignment import make_splits
from collector.models import Collection, CollectionState
from common import long_work
from common.actions import ActionError
from common.long_work import BROKEN, PAUSES, SILENT, WorkState
from common.wrong_clocks import DOUBTED_SECONDS, Clock
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/releases/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection without any release."""
    return make_collection(slug="pilot")


def issue_into(folder: Path, collection: Collection, number: int = 1, **files: str) -> Release:
    """Return a release with these files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {}
    for name, text in {"train.json": "[]", **files}.items():
        (folder / name).write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        manifest[name] = {"sha256": digest, "bytes": len(text)}
    (folder / "SHA256SUMS").write_text("sums")
    return Release.objects.create(
        collection=collection,
        number=number,
        folder=str(folder),
        manifest=manifest,
        counts={"questions": {"train": 7, "dev": 1}, "dropped": 2, "votes": 9},
        created_at=timezone.now(),
    )


def test_without_releases_it_says_what_one_is(rita: Client, pilot: Collection) -> None:
    page = rita.get(PAGE).content.decode()
    assert "Nothing has been released." in page
    assert "No question is in the dataset yet" in page


def test_what_is_kept_would_be_released(rita: Client, pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question"))
    make_verdict(question, "kept", chosen=make_answer(question, stage_of(pilot, "answer")))
    assert "<b>1</b> question would be released now" in rita.get(PAGE).content.decode()


def test_what_lacks_answers_is_said_to_wait_only_while_somebody_can_answer(
    rita: Client, pilot: Collection
) -> None:
    question, other = (make_question(stage_of(pilot, "question")) for _ in range(2))
    make_verdict(question, "kept", chosen=make_answer(question, stage_of(pilot, "answer")))
    make_verdict(other, "waiting")
    page = rita.get(PAGE).content.decode()
    assert 'questions/?outcome=waiting">1 still waits for answers</a>.' in page
    Collection.objects.update(state=CollectionState.FINISHED)
    page = rita.get(PAGE).content.decode()
    assert 'questions/?outcome=waiting">1 without enough answers</a> stays out.' in page
    assert "still wait" not in page


def test_asking_makes_one_order_at_a_time(rita: Client, pilot: Collection) -> None:
    page = rita.post(f"{PAGE}make/", follow=True).content.decode()
    assert "Waiting to begin" in page
    page = rita.post(f"{PAGE}make/", follow=True).content.decode()
    assert "being made already" in page
    assert ReleaseOrder.objects.get().by == "owner"
    assert "<html" not in rita.get(f"{PAGE}now/").content.decode()


def test_a_job_finds_the_order_and_says_why_it_cannot_be(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rita.post(f"{PAGE}make/")
    found: list[tuple[str, int]] = []
    monkeypatch.setattr(do_long_work, "apply_async", lambda what, **how: found.append(what))
    monkeypatch.setattr("annotation.jobs.look_after_collection.apply_async", lambda *_, **how: None)
    look_after_what_is_due()
    do_long_work(*found[0])
    order = ReleaseOrder.objects.get()
    why = "There is no question to release yet: none has enough answers that agree."
    assert (order.state, order.message) == (WorkState.FAILED, why)
    page = rita.get(PAGE).content.decode()
    assert "The release was not made. There is no question to release yet" in page
    assert rita.post(f"{PAGE}make/").status_code == 302
    assert ReleaseOrder.objects.filter(state=WorkState.WAITING).count() == 1


def order_of(collection: Collection, **fields: Any) -> ReleaseOrder:
    """Return an order."""
    return ReleaseOrder.objects.create(
        collection=collection, by="rita", asked_at=timezone.now(), **fields
    )


def test_a_fulfilled_order_names_its_release(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    release = issue_into(tmp_path, pilot)
    steps = ("decide_collection", "make_splits")
    for name in steps:
        monkeypatch.setattr(publishing, name, lambda *given: None)

    def found(*given: object, recorded: Any) -> None:
        recorded(release, False)

    monkeypatch.setattr(publishing, "publish_release", found)
    order = order_of(pilot)
    publishing.fulfil(order.pk, timezone.now())
    order.refresh_from_db()
    assert (order.state, order.release) == (WorkState.DONE, release)
    assert "Nothing has changed since release 1." in rita.get(PAGE).content.decode()


def test_the_button_brings_a_release_with_its_files(
    rita: Client, pilot: Collection, settings: Any, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path / "releases"
    question = make_question(stage_of(pilot, "question"))
    question.seed.fold = "train"
    question.seed.save()
    make_verdict(question, "kept", chosen=make_answer(question, stage_of(pilot, "answer")))
    rita.post(f"{PAGE}make/")
    do_long_work("release", ReleaseOrder.objects.get().pk)
    order = ReleaseOrder.objects.get()
    assert (order.state, order.message) == (WorkState.DONE, "")
    assert (
        '<a href="/collections/pilot/releases/1/train.json"'
        in rita.get(f"{PAGE}1/").content.decode()
    )
    assert rita.get(f"{PAGE}1/train.json").status_code == 200
    assert "simulated" not in rita.get(f"{PAGE}1/").content.decode()


def test_a_release_says_on_its_page_how_much_is_simulated(
    rita: Client, pilot: Collection, settings: Any, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path / "releases"
    question = make_question(stage_of(pilot, "question"))
    question.seed.fold = "train"
    question.seed.save()
    make_verdict(question, "kept", chosen=make_answer(question, stage_of(pilot, "answer")))
    type(question).objects.update(synthetic=True)
    rita.post(f"{PAGE}make/")
    do_long_work("release", ReleaseOrder.objects.get().pk)
    page = rita.get(f"{PAGE}1/").content.decode()
    assert "Made by simulated workers: 1 of 1 questions" in page
    assert "1 of 1 questions" in rita.get(f"{PAGE}1/readme/").content.decode()
    assert "<dt>Answers</dt><dd>1</dd>" in page


@pytest.mark.parametrize(
    ("error", "tries", "sentence"),
    [(ActionError("Make room."), 1, "Make room."), (RuntimeError("secret"), 3, BROKEN)],
)
def test_an_order_that_breaks_says_so_without_its_insides_and_can_be_tried_again(
    rita: Client,
    pilot: Collection,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    tries: int,
    sentence: str,
) -> None:
    def fail(order: ReleaseOrder) -> None:
        raise error

    monkeypatch.setattr(publishing, "_make", fail)
    order, now = order_of(pilot), timezone.now()
    for n in range(1, 5):
        publishing.fulfil(order.pk, now + n * SILENT)
    order.refresh_from_db()
    assert (order.state, order.message, order.attempts) == (WorkState.FAILED, sentence, tries)
    page = rita.get(PAGE).content.decode()
    assert sentence.replace("'", "&#x27;") in page
    assert ("Try again" in page) is (tries == 3)
    again = f"/try-again/release/{order.pk}/"
    assert rita.post(again, {"next": PAGE}).headers["Location"] == PAGE
    order.refresh_from_db()
    assert (order.state, order.message, order.attempts) == (WorkState.WAITING, "", 0)
    assert "It does not wait for that" in rita.post(again, {"next": PAGE}, follow=True).text
    assert rita.post("/try-again/wish/1/").status_code == 404


def test_who_breaks_off_rests_before_the_next_try(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(order: ReleaseOrder) -> None:
        raise RuntimeError

    monkeypatch.setattr(publishing, "_make", fail)
    order = order_of(pilot)
    for pause in PAUSES:
        began = timezone.now()
        publishing.fulfil(order.pk, began + SILENT)
        assert ReleaseOrder.due(began + pause / 2) == []
        assert ReleaseOrder.due(timezone.now() + pause) == [order.pk]
        assert "It is tried again within a minute." in rita.get(PAGE).content.decode()


def test_an_order_is_taken_by_one_job_and_again_when_that_has_died(pilot: Collection) -> None:
    now = timezone.now()
    order = order_of(pilot, state=WorkState.RUNNING, free_at=now + SILENT)
    assert ReleaseOrder.due(now) == []
    publishing.fulfil(order.pk, now)
    order.refresh_from_db()
    assert order.state == WorkState.RUNNING
    assert ReleaseOrder.due(now + SILENT) == [order.pk]
    # Of a clock that was a year ahead.
    ReleaseOrder.objects.update(free_at=now + timedelta(days=365))
    assert ReleaseOrder.due(now) == [order.pk]


def test_work_is_not_taken_from_who_slept_with_the_machine(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = order_of(pilot, state=WorkState.RUNNING, free_at=timezone.now() + SILENT)
    monkeypatch.setattr(long_work, "CLOCK", Clock())
    real, steady = time.time, time.monotonic
    monkeypatch.setattr(time, "time", lambda: real() + 3600)
    woken = timezone.now() + timedelta(hours=1)
    publishing.fulfil(order.pk, woken)
    order.refresh_from_db()
    assert (order.state, order.attempts) == (WorkState.RUNNING, 0)
    # What rests waits no longer for that, and what died is taken up a little later.
    ReleaseOrder.objects.update(state=WorkState.WAITING)
    assert ReleaseOrder.due(woken) == [order.pk]
    ReleaseOrder.objects.update(state=WorkState.RUNNING)
    monkeypatch.setattr(time, "monotonic", lambda: steady() + DOUBTED_SECONDS)
    monkeypatch.setattr(time, "time", lambda: real() + 3600 + DOUBTED_SECONDS)
    assert ReleaseOrder.due(woken) == [order.pk]


@pytest.mark.parametrize("lost_in", ["decide_collection", "publish_release"])
def test_a_job_that_lost_its_order_stops_and_leaves_it_to_the_other(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lost_in: str
) -> None:
    order, release, done = order_of(pilot), issue_into(tmp_path, pilot), []

    def lose(name: str) -> PublishedRelease:
        done.append(name)
        if name == lost_in:
            ReleaseOrder.objects.update(claim="the other's", step="Placing questions")
        return PublishedRelease(release, tmp_path, is_new=True)

    steps = ("decide_collection", "make_splits", "publish_release")
    for name in steps:
        monkeypatch.setattr(publishing, name, lambda *given, name=name, **_: lose(name))
    publishing.fulfil(order.pk, timezone.now())
    assert tuple(done) == steps[: steps.index(lost_in) + 1]
    order.refresh_from_db()
    assert (order.state, order.claim) == (WorkState.RUNNING, "the other's")
    assert (order.step, order.release) == ("Placing questions", None)


def test_a_release_shows_its_files_and_checksums(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    issue_into(tmp_path, pilot)
    page = rita.get(f"{PAGE}1/").content.decode()
    assert hashlib.sha256(b"[]").hexdigest() in page
    assert "SHA256SUMS" in page
    assert "<dd>7</dd>" in page
    listed = rita.get(PAGE).content.decode()
    assert "<b>7</b> train" in listed


def test_a_release_whose_folder_is_gone_says_so(rita: Client, pilot: Collection) -> None:
    Release.objects.create(
        collection=pilot,
        number=1,
        folder="/nowhere",
        manifest={"train.json": {"sha256": "0", "bytes": 2}},
        created_at=timezone.now(),
    )
    page = rita.get(f"{PAGE}1/").content.decode()
    assert "not in their folder any more, <code>/nowhere</code>" in page
    assert rita.get(f"{PAGE}1/train.json").status_code == 404


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_all_files_come_as_one_zip_that_is_the_same_every_time(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    issue_into(tmp_path, pilot, **{"README.md": "# Pilot"})
    assert f'href="{PAGE}1/zip/" download>Download all' in rita.get(f"{PAGE}1/").content.decode()
    first, second = (rita.get(f"{PAGE}1/zip/") for _ in range(2))
    assert first["Content-Disposition"] == 'attachment; filename="pilot-1.zip"'
    whole = b"".join(first)
    assert whole == b"".join(second)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.testzip() is None
        names = ["pilot-1/README.md", "pilot-1/SHA256SUMS", "pilot-1/train.json"]
        assert archive.namelist() == names
        assert archive.read("pilot-1/README.md") == b"# Pilot"


def test_the_readme_is_a_page_and_its_markup_is_text(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    issue_into(tmp_path, pilot, **{"README.md": "# Pilot\n\n<script>x</script>\n\n|a|\n|-|\n|7|"})
    page = rita.get(f"{PAGE}1/readme/").content.decode()
    assert "<h1>Pilot</h1>" in page
    assert "<td>7</td>" in page
    assert "&lt;script&gt;x" in page
    (tmp_path / "README.md").unlink()
    assert rita.get(f"{PAGE}1/readme/").status_code == 404
    assert "Read its README" not in rita.get(f"{PAGE}1/").content.decode()


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_the_readme_leads_to_the_releases_own_files_and_shows_its_drawings(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    (tmp_path / "tables").mkdir()
    links = "![Size](tables/size.svg) [size.csv](tables/size.csv) [more](other.csv)"
    card = f"{links}\n\n|a|b|\n|-|-:|\n|6|7|"
    files = {"README.md": card, "tables/size.svg": "<svg/>", "tables/size.csv": "a"}
    issue_into(tmp_path, pilot, **files)
    page = rita.get(f"{PAGE}1/readme/").content.decode()
    assert f'<img src="{PAGE}1/tables/size.svg" alt="Size"' in page
    assert f'<a href="{PAGE}1/tables/size.csv">' in page
    assert '<a href="other.csv">' in page
    # A style in an element would be refused by the page's policy.
    assert '<td>6</td>\n<td class="n">7</td>' in page
    drawing = rita.get(f"{PAGE}1/tables/size.svg")
    assert drawing["Content-Type"] == "image/svg+xml"
    assert drawing["Content-Disposition"].startswith("attachment")


def test_a_release_shows_an_example_and_leads_to_the_report(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    example = {"question": "Who <kept> it?", "context": "long " * 100, "links": list("abcdef")}
    data = {"version": "1", "data": [example, {"question": "not this one"}]}
    issue_into(tmp_path, pilot, **{"dev.json": "[]", "train.json": json.dumps(data)})
    page = rita.get(f"{PAGE}1/").content.decode()
    assert "The first of <code>train.json</code>" in page
    assert "Who &lt;kept&gt; it?" in page
    assert "… 3 more" in page
    assert "not this one" not in page
    assert 'href="/collections/pilot/report/"' in page


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")
def test_a_file_is_handed_out_and_never_shown(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    issue_into(tmp_path, pilot, **{"README.md": "<script>alert(1)</script>"})
    reply = rita.get(f"{PAGE}1/README.md")
    assert b"".join(reply) == b"<script>alert(1)</script>"
    assert reply["Content-Disposition"] == 'attachment; filename="README.md"'
    assert reply["Content-Type"] == "application/octet-stream"
    assert reply["Content-Length"] == "25"
    assert rita.get(f"{PAGE}1/SHA256SUMS").status_code == 200


@pytest.mark.parametrize(
    "name", ["../secret", "..%2Fsecret", "/etc/passwd", "other.json", "%2e%2e/secret", "."]
)
def test_nothing_outside_the_release_is_handed_out(
    rita: Client, pilot: Collection, tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "other.json").write_text("not of the release")
    release = issue_into(tmp_path / "release", pilot)
    release.manifest["../secret"] = {"sha256": "0", "bytes": 6}
    release.save()
    assert rita.get(f"{PAGE}1/{name}").status_code == 404


def test_an_unknown_release_is_nowhere(rita: Client, pilot: Collection) -> None:
    assert rita.get(f"{PAGE}9/").status_code == 404
    assert rita.get(f"{PAGE}9/train.json").status_code == 404


def test_the_report_is_drawn_in_tables(rita: Client, pilot: Collection) -> None:
    make_verdict(make_question(stage_of(pilot, "question")), "dropped")
    page = rita.get("/collections/pilot/report/").content.decode()
    assert "<table" in page
    assert "question_qualification" not in page
    assert "Question qualification" in page
    assert '<th scope="col">Reason</th>' in page, "words are set from the left"


def test_a_report_without_rows_says_so(
    rita: Client, pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.reports.collection.tables_of", lambda collection: [])
    assert "No report yet" in rita.get("/collections/pilot/report/").content.decode()


def test_its_queries_do_not_follow_the_releases(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    issue_into(tmp_path / "1", pilot)
    one = queries(lambda: rita.get(PAGE))
    for number in range(2, 32):
        issue_into(tmp_path / str(number), pilot, number)
    assert queries(lambda: rita.get(PAGE)) == one


def test_what_is_kept_back_is_named_and_never_handed_out(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    issue_into(tmp_path / "out", pilot)
    page = f"{PAGE}1/"
    assert "Kept back" not in rita.get(page).content.decode()
    private = tmp_path / "out-private"
    private.mkdir()
    (private / "gold.json").write_text("[]")
    shown = rita.get(page).content.decode()
    assert str(private) in shown
    assert "gold.json" not in shown
    assert rita.get(f"{page}gold.json").status_code == 404
    assert rita.get(f"{page}../out-private/gold.json").status_code == 404


def test_what_changed_since_an_earlier_release_is_shown_and_handed_out(
    rita: Client, settings: Any, tmp_path: Path
) -> None:
    settings.RELEASES = tmp_path
    pilot = island()
    make_splits(pilot, timezone.now())
    publish_release(pilot, None, timezone.now())
    gone = pilot.seeds.get(fold="dev").questions.get(verdict__outcome="kept")
    Verdict.objects.filter(question=gone).update(outcome="dropped", reason="marked_bad")
    publish_release(pilot, None, timezone.now())
    assert f'href="{PAGE}2/changes/"' in rita.get(f"{PAGE}2/").content.decode()
    listed = rita.get(PAGE).content.decode()
    assert f'href="{PAGE}2/changes/">What changed since release 1</a>' in listed
    assert listed.count("/changes/") == 1
    page = rita.get(f"{PAGE}2/changes/").content.decode()
    assert gone.text in page
    assert "Dropped (marked bad)" in page
    answer = rita.get(f"{PAGE}2/changes/?since=1&csv=1")
    assert answer["Content-Disposition"].endswith('-1-to-2.csv"')
    assert gone.text in answer.content.decode()
    assert "changes/" not in rita.get(f"{PAGE}1/").content.decode()
    assert rita.get(f"{PAGE}1/changes/").status_code == 404
    assert rita.get(f"{PAGE}2/changes/?since=9").status_code == 404
    (tmp_path / "pilot" / "manifest.json").unlink()
    assert "it holds no release" in rita.get(f"{PAGE}2/changes/").content.decode()


def test_one_form_asks_for_what_only_a_requester_can_say(rita: Client, pilot: Collection) -> None:
    assert "will not say: authors, contact" in rita.get(PAGE).content.decode()
    wrong = send(rita, f"{PAGE}said/", f"{PAGE}said/", {"uses": "To test <b>", "page": "nowhere"})
    assert wrong.status_code == 400
    page = wrong.content.decode()
    assert "Nothing was saved" in page
    assert "To test &lt;b&gt;" in page
    assert page.count('class="wrong"') == 1
    assert not Statement.objects.exists()
    assert send(rita, f"{PAGE}said/", f"{PAGE}said/", {"uses": "To test <b>"}).status_code == 302
    assert Statement.objects.get().by == "owner"
    page = rita.get(f"{PAGE}said/").content.decode()
    assert "To test &lt;b&gt;" in page
    assert "Said by owner" in page
    assert "intended uses" not in rita.get(PAGE).content.decode()
