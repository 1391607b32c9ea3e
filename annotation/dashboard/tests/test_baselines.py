"""Baselines on a release's page: begun, taken up once, watched, stopped, tried again, shown."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.baselines import training, training_jobs
from annotation.baselines.training_jobs import order_baseline, train_baseline
from annotation.dashboard.tests.test_releases import issue_into
from annotation.jobs import has_due_work
from annotation.models import BaselineRun, Release
from collector.models import Collection
from common.long_work import DIED, MOST_ATTEMPTS, SILENT, WorkState
from common.watched_process import WatchedProcess
from readers.trained import Trained
from tasks.tests.making import make_collection

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/releases/1/baselines/"
SCORES = {
    "predictions": "predictions.json",
    "seconds": 75.0,
    "columns": ["measure", "value"],
    "rows": [["F1", "51.2"], ["unfiltered_f1", "49.0"]],
    "notes": [],
}
BIDAF = Trained(
    "BiDAF++ with 2 previous turns (QuAC 5.3)",
    "nowhere",
    train_files=("train.json",),
    dev_file="dev.json",
    source="QuAC, Table 4",
    paper={"F1": 60.6, "HEQ-Q": None},
)
# What the program of a baseline does, told in its own folder.
DONE = f"""
import json, pathlib, sys
folder = pathlib.Path("FOLDER")
out = folder / "out"
out.mkdir(exist_ok=True)
(folder / "scores.json").write_text({json.dumps(json.dumps(SCORES))})
(out / "predictions.json").write_text("{{}}")
"""
LONG = """
import json, pathlib, time
folder = pathlib.Path("FOLDER")
said = {"step": "Epoch 2 of 3", "share": 0.4, "seconds_left": 90}
(folder / "progress.json").write_text(json.dumps(said))
time.sleep(60)
"""
BROKEN = "raise OSError('the disk is gone')"
REFUSED = "import sys; print('recipe: epochs is missing.', file=sys.stderr); sys.exit(2)"


@pytest.fixture
def release(rita: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    """Return a release of a protocol that has one baseline to train, on a machine that can."""
    monkeypatch.setattr(training_jobs, "is_installed", lambda: True)
    monkeypatch.setattr(
        "annotation.dashboard.release_views.trained_baselines",
        lambda context: {"bidaf": BIDAF},
    )
    monkeypatch.setattr(training, "named", lambda protocol, name: BIDAF)
    return issue_into(tmp_path / "release", make_collection(slug="pilot"))


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[tuple[str, ...]]]:
    """Have another program stand in for the training; return what it was told to do."""
    told: list[tuple[str, ...]] = []
    begin = WatchedProcess.run

    def stands_in(code: str) -> list[tuple[str, ...]]:
        def run(self: WatchedProcess, *arguments: str, **environment: str) -> None:
            told.append(arguments)
            begin(self, "-c", code.replace("FOLDER", str(self.folder)))

        monkeypatch.setattr(WatchedProcess, "run", run)
        return told

    return stands_in


def ordered(release: Release) -> BaselineRun:
    run = order_baseline(release, "bidaf", "small", "rita", timezone.now())
    assert run is not None
    return run


def page_of(rita: Client) -> str:
    return rita.get(PAGE).content.decode()


def test_a_baseline_is_begun_once_and_its_scores_are_shown(
    rita: Client, release: Release, program: Any
) -> None:
    assert "Nothing has been trained" in page_of(rita)
    for _ in range(2):
        reply = rita.post(f"{PAGE}begin/", {"name": "bidaf", "recipe": "small"}, follow=True)
    assert "is being trained by this recipe already" in reply.content.decode()
    run = BaselineRun.objects.get()
    assert "A machine takes it up within seconds" in page_of(rita)
    Collection.objects.update(look_at=None)
    assert has_due_work()
    told = program(DONE)
    assert train_baseline(run.pk, timezone.now())
    assert not train_baseline(run.pk, timezone.now()), "it is done"
    assert not BaselineRun.due(timezone.now())
    (arguments,) = told
    assert arguments[:2] == ("-m", "annotation.baselines")
    work = json.loads((Path(arguments[2]) / "work.json").read_text())
    assert (work["name"], work["recipe"]) == ("bidaf", "small")
    assert work["train"] == [str(release.place / "train.json")]
    run.refresh_from_db()
    assert (run.state, len(run.checksum)) == (WorkState.DONE, 64)
    assert "51.2" in page_of(rita)
    assert "Unfiltered f1" in page_of(rita)
    assert "F1 60.6 (QuAC, Table 4)" in page_of(rita)


def test_what_the_protocol_does_not_have_is_not_begun(rita: Client, release: Release) -> None:
    for wrong in ({"name": "bidaf", "recipe": "huge"}, {"name": "oracle", "recipe": "small"}):
        reply = rita.post(f"{PAGE}begin/", wrong, follow=True)
        assert "Choose one of the baselines and a recipe" in reply.content.decode()
    assert not BaselineRun.objects.exists()


def test_a_protocol_without_baselines_to_train_has_no_such_page(
    rita: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.dashboard.release_views.trained_baselines", lambda context: {})
    issue_into(tmp_path / "release", make_collection(slug="pilot"))
    assert rita.get(PAGE).status_code == 404
    assert rita.get("/collections/pilot/releases/1/").status_code == 200


def test_a_stopped_run_ends_its_process_and_stays_stopped(
    rita: Client, release: Release, program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ordered(release)
    program(LONG)
    monkeypatch.setattr(training_jobs, "SAY_SECONDS", 0)
    seen: list[str] = []
    look = WatchedProcess.is_over

    def stop_in_between(self: WatchedProcess, wait_seconds: float = 0.3) -> bool:
        over = look(self, 0.3)
        if self.progress()[0] != "Starting":
            seen.append(page_of(rita))
            if len(seen) == 2:
                rita.post(f"{PAGE}{run.pk}/stop/")
        return over

    monkeypatch.setattr(WatchedProcess, "is_over", stop_in_between)
    assert not train_baseline(run.pk, timezone.now())
    assert "Epoch 2 of 3" in seen[1]
    assert "40% of this step" in seen[1]
    assert "40%, about 90.0 s left" in seen[1]
    run.refresh_from_db()
    assert run.state == WorkState.STOPPED
    assert not BaselineRun.due(timezone.now())
    again = rita.post(f"{PAGE}{run.pk}/stop/", follow=True).content.decode()
    assert "has ended already" in again


def test_what_fails_is_tried_again_and_at_last_says_why(
    rita: Client, release: Release, program: Any
) -> None:
    run = ordered(release)
    program(BROKEN)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        run.refresh_from_db()
        assert (run.state, run.attempts) == (WorkState.WAITING, attempt - 1)
        assert not train_baseline(run.pk, timezone.now() + attempt * SILENT)
    assert "the disk is gone" in page_of(rita)
    assert not BaselineRun.due(timezone.now())


def test_what_would_be_refused_again_is_not_tried_again(
    rita: Client, release: Release, program: Any
) -> None:
    run = ordered(release)
    program(REFUSED)
    assert not train_baseline(run.pk, timezone.now())
    run.refresh_from_db()
    assert (run.state, run.message) == (WorkState.FAILED, "recipe: epochs is missing.")
    assert "epochs is missing" in page_of(rita)


def test_a_run_whose_machine_died_is_taken_up_by_another(release: Release, program: Any) -> None:
    run = ordered(release)
    BaselineRun.objects.update(state="running", attempts=1, free_at=timezone.now() + SILENT)
    program(DONE)
    assert not train_baseline(run.pk, timezone.now()), "its machine gave a sign a moment ago"
    BaselineRun.objects.update(free_at=timezone.now() - SILENT)
    assert train_baseline(run.pk, timezone.now())
    BaselineRun.objects.update(state="running", attempts=3, free_at=timezone.now() - SILENT)
    assert not train_baseline(run.pk, timezone.now())
    run.refresh_from_db()
    assert (run.state, run.message) == (WorkState.FAILED, DIED)


def test_a_machine_that_cannot_train_leaves_the_run_and_the_page_says_so(
    rita: Client, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ordered(release)
    monkeypatch.setattr(training_jobs, "is_installed", lambda: False)
    assert not train_baseline(run.pk, timezone.now())
    BaselineRun.objects.update(asked_at=timezone.now() - timedelta(minutes=1))
    told = re.sub(r"\s+", " ", page_of(rita))
    assert "No machine has taken it up" in told
    assert "make setup-readers" in told
