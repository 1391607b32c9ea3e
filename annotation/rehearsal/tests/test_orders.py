"""A rehearsal is a copy in a process of its own: of the collection not a byte changes."""

import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.jobs import do_long_work, has_due_work
from annotation.models import Rehearsal
from annotation.rehearsal import copying, orders
from annotation.rehearsal.orders import order_rehearsal, rehearse
from collector.models import Article, Collection, CollectionState
from collector.serving import sample
from common import long_work
from common.actions import ActionError
from common.long_work import SILENT, WorkState
from common.watched_process import WatchedProcess
from tasks.models import Unit
from tasks.tests.making import make_collection, make_corpus
from tests.table_bytes import bytes_of_tables

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])
OWN = ("annotation_rehearsal",)
# What a process does that takes long, or dies.
LONG = """
import json, pathlib, sys, time
said = {"step": "12 have done 7 HITs", "share": 0.4, "seconds_left": None}
pathlib.Path(sys.argv[1], "progress.json").write_text(json.dumps(said))
time.sleep(60)
"""
BROKEN = "raise OSError('the disk is gone')"
# A page with what Unicode takes for the ends of lines, and JSON does not.
SEPARATED = "Ask\u2028and\u2029tell\x85all"
DONE = f"""
import pathlib, sys
from annotation.rehearsal.__main__ import FINDINGS, PAGES, json
page = dict(stage={SEPARATED!r}, moment="When it is opened", html="<p>")
lines = json.dumps(page, ensure_ascii=False) + chr(10) + json.dumps(page, ensure_ascii=False)
pathlib.Path(sys.argv[1], PAGES).write_text(lines, "utf-8")
pathlib.Path(sys.argv[1], FINDINGS).write_text("{{}}", "utf-8")
"""
REFUSED = "import sys; print('Port 1 is taken.', file=sys.stderr); sys.exit(2)"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings: Any) -> Path:
    """Return the home in which copies are kept while they are rehearsed."""
    settings.HOME = tmp_path / "home"
    return Path(settings.HOME)


@pytest.fixture
def pilot() -> Collection:
    """Return a collection that can be rehearsed."""
    return make_collection()


def drop_seeds(collection: Collection) -> None:
    """Leave nothing to do."""
    Unit.objects.all().delete()
    collection.seeds.all().delete()


def doing(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the process do something else than to rehearse."""
    begin = WatchedProcess.run

    def run(self: WatchedProcess, *arguments: str, **environment: str) -> None:
        begin(self, "-c", program, arguments[-1], **environment)

    monkeypatch.setattr(WatchedProcess, "run", run)


def test_a_draft_is_rehearsed_and_not_a_byte_of_it_changes(home: Path) -> None:
    chosen = sample.demos(sample.read_plan())["squad"]
    sample.read_corpus(chosen["corpus"], stdout=StringIO())
    told: dict[str, Any] = {"stdout": StringIO()}
    call_command(
        "create_collection",
        "draft",
        protocol="squad",
        corpus="quarnsey",
        set=[
            *("seeds.min_characters=200", "splits.train=2", "splits.dev=1", "splits.test=1"),
            'people.groups=["The panel"]',
        ],
        **told,
    )
    call_command("select_seeds", "draft", count=8, **told)
    Collection.objects.update(state=CollectionState.PAUSED)
    before = bytes_of_tables(but=OWN)
    said = StringIO()
    call_command("rehearse", "draft", workers=5, stdout=said)
    assert bytes_of_tables(but=OWN) == before
    Collection.objects.update(look_at=timezone.now())
    assert bytes_of_tables(but=OWN) != before
    assert list((home / "rehearsals").iterdir()) == []

    row = Rehearsal.objects.get()
    found = row.findings
    assert (row.state, row.share_done, found["workers"]) == (WorkState.DONE, 1, 5)
    done = {stage["name"]: stage for stage in found["stages"]}
    assert done["question"]["hits"] > 4
    assert done["answer"]["hits"] > 0
    assert 0 < done["question"]["least_minutes"] < 8
    assert found["kept"] > 0 < found["cost_cents"]
    assert not [each for each in found["problems"] if each["kind"] == "stuck"]
    assert "5 simulated workers did" in said.getvalue()
    moments = set(row.pages.values_list("moment", flat=True))
    assert moments >= {
        *("The list of HITs", "Consent", "Before it is accepted", "When it is opened"),
        *("Submitted with nothing done", "As it was handed in"),
    }
    # What leads anywhere, or opens anything, is not in them.
    for page in row.pages.filter(is_work=True, moment="When it is opened"):
        assert '"token":""' in page.html
        assert '"mode":"trial"' in page.html
    assert "<script" not in row.pages.get(moment="The list of HITs").html


def test_one_that_is_stopped_ends_at_once_and_leaves_nothing(
    pilot: Collection, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing(LONG, monkeypatch)
    row = order_rehearsal(pilot, 4, "Rita", timezone.now())
    seen = []

    def stop(step: str, share: float) -> None:
        seen.append((step, share))
        if step.startswith("12"):
            assert len(list((home / "rehearsals").iterdir())) == 1
            row.stop(timezone.now())

    assert not rehearse(row.pk, timezone.now(), stop)
    row.refresh_from_db()
    assert seen[-1] == ("12 have done 7 HITs", 0.4)
    assert (row.state, row.message, row.step) == (WorkState.STOPPED, "", "")
    assert row.ended_at is not None
    assert list((home / "rehearsals").iterdir()) == []
    assert not row.stop(timezone.now())


@pytest.mark.parametrize(
    ("program", "sentence"), [(BROKEN, long_work.BROKEN), (REFUSED, "Port 1 is taken.")]
)
def test_a_process_that_dies_is_told_of_in_a_sentence(
    pilot: Collection,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    sentence: str,
) -> None:
    doing(program, monkeypatch)
    with pytest.raises(CommandError, match=sentence[:30]):
        call_command("rehearse", pilot.slug, workers=4, stdout=StringIO())
    row = Rehearsal.objects.get()
    assert row.message == sentence
    assert not row.is_going_on
    assert list((home / "rehearsals").iterdir()) == []


def test_pages_are_kept_whose_words_have_line_separators(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing(DONE, monkeypatch)
    row = order_rehearsal(pilot, 4, "Rita", timezone.now())
    assert rehearse(row.pk, timezone.now())
    assert list(row.pages.values_list("stage", flat=True)) == [SEPARATED] * 2


@pytest.mark.parametrize("is_searched", [False, True])
def test_a_large_corpus_is_rehearsed_in_part_and_that_is_said(
    pilot: Collection, monkeypatch: pytest.MonkeyPatch, is_searched: bool
) -> None:
    doing(DONE, monkeypatch)
    row = order_rehearsal(pilot, 4, "Rita", timezone.now())
    assert rehearse(row.pk, timezone.now())
    row.refresh_from_db()
    assert row.findings["part"] == ""

    monkeypatch.setattr(copying, "SMALL_CORPUS", 3)
    redirect = {"kind": "redirect", "redirect_target": "Place 1", "revision_id": 1}
    Article.objects.create(corpus=pilot.corpus, page_id=99, title="There", **redirect)
    Article.objects.create(corpus=pilot.corpus, page_id=100, title="Far", revision_id=1)
    if is_searched:
        pilot.stages.update(kind="search_answer")
    again = order_rehearsal(pilot, 4, "Rita", timezone.now())
    assert rehearse(again.pk, timezone.now())
    again.refresh_from_db()
    part = again.findings["part"]
    assert part.startswith("Of the corpus’s 13 articles 12 were copied:")
    assert ("A search found no others" in part) is is_searched


def test_the_process_throws_its_copy_away_when_whoever_began_it_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    begun = subprocess.Popen(
        [sys.executable, "-m", orders.MODULE, str(folder)],
        cwd=settings.BASE_DIR,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**orders._nothing_of_ours(folder), "PATH": ""},
    )
    assert begun.stdin
    begun.stdin.close()
    assert begun.wait(30) != 0
    assert not folder.exists()


def test_the_process_is_told_no_address_of_ours(tmp_path: Path) -> None:
    told = orders._nothing_of_ours(tmp_path)
    ours = ("DATABASE_URL", "MARKETPLACE_DATABASE_URL", "REDIS_URL", "MTURK_ENDPOINT_URL")
    assert [told[name] for name in ours] == [""] * 4
    assert told["COLLECTOR_HOME"].startswith(str(tmp_path))


def test_what_a_dead_job_left_fails_and_the_next_begins(
    pilot: Collection, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doing(BROKEN, monkeypatch)
    now = timezone.now()
    left = order_rehearsal(pilot, 4, "Rita", now)
    dead = {"claim": "dead", "attempts": 3, "free_at": now + SILENT}
    Rehearsal.objects.update(state=WorkState.RUNNING, **dead)
    (home / "rehearsals" / "dead").mkdir(parents=True)
    other = make_collection(make_corpus(slug="other"), slug="other")
    waiting = order_rehearsal(other, 4, "Rita", now)
    assert Rehearsal.due(now) == []
    assert not rehearse(waiting.pk, now)
    later = now + SILENT
    assert Rehearsal.due(later) == [left.pk]
    do_long_work("rehearsal", left.pk)
    left.refresh_from_db()
    assert left.is_going_on, "its claim is not over"
    Rehearsal.objects.filter(pk=left.pk).update(free_at=now)
    do_long_work("rehearsal", left.pk)
    assert list((home / "rehearsals").iterdir()) == []
    left.refresh_from_db()
    assert (left.state, left.message) == (WorkState.FAILED, long_work.DIED)
    assert Rehearsal.due(later) == [waiting.pk]
    assert has_due_work()
    rehearse(waiting.pk, later)
    assert list((home / "rehearsals").iterdir()) == []


@pytest.mark.parametrize(
    ("spoil", "n_workers", "sentence"),
    [
        (drop_seeds, 4, "no seeds"),
        (lambda row: None, 1, "2 to 100"),
        (lambda row: None, 101, "2 to 100"),
        (lambda row: order_rehearsal(row, 4, "Rita", timezone.now()), 4, "already"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused(
    pilot: Collection, spoil: Callable[[Collection], object], n_workers: int, sentence: str
) -> None:
    spoil(pilot)
    with pytest.raises(ActionError, match=sentence):
        order_rehearsal(pilot, n_workers, "Rita", timezone.now())


def test_only_the_last_few_are_kept(pilot: Collection) -> None:
    for _ in range(orders.MOST_KEPT + 2):
        order_rehearsal(pilot, 4, "Rita", timezone.now()).stop(timezone.now())
    assert Rehearsal.objects.count() == orders.MOST_KEPT
