"""The whole way under all injected faults together: nothing lost, nobody paid twice or not."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.migrated_databases import databases
from tests.serving import Instance, serving
from tests.test_whole_way import SAMPLE, check_release

WITH_FAULTS = {"DJANGO_SETTINGS_MODULE": "tests.fault_injection_settings"}
CREATE = ["--protocol", "iirc", "--corpus", "read", "--budget", "600", "--seed", "3"]
N_WORKERS = 8
FOLDS = ("train", "dev", "test")
SMALL = {
    "pay.approve_after_hours": 0,
    "question_qualification.items_per_hit": 1,
    "question_qualification.questions_per_hit": 1,
    "question_qualification.multi_link_questions": 0,
    "question_qualification.places_at_once": 4,
    # Everybody tries once, and then nothing is left of it to look at.
    **{f"question_qualification.redundancy.{fold}": N_WORKERS for fold in FOLDS},
    "question.items_per_hit": 3,
    "question.questions_per_hit": 3,
    "question.multi_link_questions": 1,
    "answer_qualification.items_per_hit": 1,
    "answer_qualification.places_at_once": 4,
    **{f"answer_qualification.redundancy.{fold}": N_WORKERS for fold in FOLDS},
    "answer.items_per_hit": 3,
    # Three passages a split: of one alone every question may be dropped by its votes.
    **{f"splits.{fold}": 1 for fold in FOLDS},
    "answer.redundancy.dev": 2,
    "answer.redundancy.test": 2,
    "human_performance.items_per_hit": 3,
}
CROWD = ["--workers", str(N_WORKERS), "--inspect", "--seed", "3"]
MOST_CROWDS = 5
SETTLED_WITHIN_SECONDS = 60


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_injected_faults_lose_nothing_and_pay_nobody_twice(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    with (
        databases("faults") as settings,
        serving(home, {**settings, **WITH_FAULTS}) as instance,
        listening() as (address, heard),
    ):
        instance.call("tests.fault_injection:begin")
        publish(instance)
        instance.call("tests.fault_injection:listen", address)
        given_back = instance.call("tests.fault_injection:change_minds", "Grace")
        collect(instance)
        for command in ("validate_answers", "make_splits"):
            carry_out(instance, command, "faults")
        carry_out(instance, "export_dataset", "faults", "--out", str(out))
        carry_out(instance, "finish_collection", "faults", "--why", "We have enough.")
        assert settled(instance) == []
        assert instance.call("tests.fault_injection:holders", given_back) > 1
    check_release(out)
    assert max(Counter(heard).values()) > 1


def carry_out(instance: Instance, *command: str) -> None:
    """Run a command without another process: starting nine of them would be half of the time."""
    instance.call("tests.fault_injection:carry_out", *command)


def publish(instance: Instance) -> None:
    """Open a small collection on the sample corpus."""
    overrides = [part for name, value in SMALL.items() for part in ("--set", f"{name}={value}")]
    carry_out(instance, "ingest_dump", str(SAMPLE), "--corpus", "read", "--licence", "CC BY-SA 4.0")
    carry_out(instance, "create_collection", "faults", *CREATE, *overrides)
    carry_out(instance, "select_seeds", "faults", "--count", "9")
    carry_out(instance, "publish", "faults")


def collect(instance: Instance) -> None:
    """Send crowds until every place is taken: one may leave while the index still lags."""
    for _ in range(MOST_CROWDS):
        carry_out(instance, "simulate", "faults", *CROWD)
        if instance.call("tests.ledger_comparison:is_collected", "faults"):
            return
    raise AssertionError("After five crowds there are still places left.")


def settled(instance: Instance) -> list[str]:
    """Return what still differs between the books once the jobs have had time to settle it."""
    until = time.monotonic() + SETTLED_WITHIN_SECONDS
    while (
        left := instance.call("tests.ledger_comparison:differences", "faults")
    ) and time.monotonic() < until:
        time.sleep(0.25)
    return left


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a listener to events, and the ids of the documents it has heard."""
    heard: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Take one message."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append(json.loads(body)["EventDocId"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Listener)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/events", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
