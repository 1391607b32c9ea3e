"""Two hundred people in every protocol on three hosts, each process of which is killed."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2

from tests import process_groups
from tests.rehearsals import part_of
from tests.rehearsals.deployed_processes import wait_until
from tests.rehearsals.network_hosts import hosts
from tests.rehearsals.served_site import HELD, ask
from tests.rehearsals.test_outages import HANDED_IN
from tests.rehearsals.three_hosts import VICTIMS, Site, site
from tests.serving import ROOT, Instance, serving
from tests.test_replay import FAST_JOBS, contents

HERE = "tests.rehearsals.test_three_hosts"
N_WORKERS = part_of(200)
# How long somebody has a HIT in hand, and looks again where there was none.
THINK_SECONDS, PAUSE_SECONDS = 25.0, 5.0
# Whatever is awaited has come by then; between one kill and the next people work.
MOST_SECONDS, BETWEEN_SECONDS = 120, 4
IN_HAND = "SELECT count(*) FROM tasks_lease WHERE state = 'live'"
WHO_CAME = "SELECT count(DISTINCT worker_id) FROM tasks_lease"
PER_STAGE = """
SELECT collector_collection.slug || ' ' || collector_stage.name, count(*) FROM tasks_submission
JOIN tasks_lease ON tasks_lease.id = tasks_submission.lease_id
JOIN tasks_unit ON tasks_unit.id = tasks_lease.unit_id
JOIN collector_stage ON collector_stage.id = tasks_unit.stage_id
JOIN collector_collection ON collector_collection.id = collector_stage.collection_id
GROUP BY 1 ORDER BY 1
"""
# What was said in dialogs of the other folds waits for people who validate it.
SAID = """
SELECT count(*) FROM tasks_question
JOIN collector_stage ON collector_stage.id = tasks_question.stage_id
JOIN collector_seed ON collector_seed.id = tasks_question.seed_id
WHERE collector_stage.kind = 'dialog' AND collector_seed.fold = 'train'
"""
EARNED = """
SELECT marketplace_worker.worker_id, sum(amount_cents) FROM marketplace_ledgerentry
JOIN marketplace_worker ON marketplace_worker.id = marketplace_ledgerentry.worker_id
WHERE kind IN ('reward', 'bonus') GROUP BY 1
"""
FOLDS = ("train", "dev", "test")
# Small HITs and room for everybody: there is work to the end, and little of it to do again.
CHANGED: dict[str, dict[str, Any]] = {
    "iirc": {
        "question.items_per_hit": 1,
        "question.questions_per_hit": 2,
        "question.multi_link_questions": 1,
        "answer.items_per_hit": 2,
        "question_qualification.items_per_hit": 1,
        "answer_qualification.items_per_hit": 1,
        **{f"{n}_qualification.redundancy.{f}": 100 for n in ("question", "answer") for f in FOLDS},
    },
    "hotpotqa": {
        "question.items_per_hit": 2,
        "question.max_skips": 1,
        "human_performance.items_per_hit": 2,
    },
    "quac": {
        **{f"{n}_qualification.redundancy.{f}": 100 for n in ("student", "teacher") for f in FOLDS},
        "student_qualification.items_per_hit": 1,
        "teacher_qualification.items_per_hit": 1,
        "dialog.redundancy.train": 3,
        "dialog.max_questions": 4,
        "dialog.min_pairs": 1,
    },
    "bookqa": {f"question.redundancy.{fold}": 60 for fold in FOLDS},
    "squad": {},
    "rag": {"question.items_per_hit": 2, "natural.items_per_hit": 2},
}
SEEDS = {"iirc": 100, "hotpotqa": 100, "quac": 16, "bookqa": 3, "squad": 100, "rag": 60}
# So many HITs of these stages, and there is something to release.
RIPE = {
    "iirc answer": 6,
    "hotpotqa question": 6,
    "quac dialog": 6,
    "bookqa answer": 1,
    "squad answer": 6,
    "rag reading": 2,
}
# And so many answered questions of dialogs.
LEAST_SAID = 4
# Whose workers qualify, and a person decides about it.
QUALIFYING = ("iirc", "quac")


def test_on_three_hosts_no_kill_loses_or_doubles_anything(tmp_path: Path) -> None:
    tell = Teller()
    with (
        hosts("data", "web", "workers") as (data, web, workers),
        site(tmp_path, data, web, workers) as served,
        contextlib.ExitStack() as stack,
    ):
        tell("three hosts are up")
        instance = served.instance("web", web)
        stack.callback(instance.close)
        instance.call(f"{HERE}:open_all")
        tell(f"a collection of each of {len(CHANGED)} protocols is open")
        with working(served) as taken:
            assert wait_until(lambda: n_who_came(served) >= N_WORKERS, 2 * MOST_SECONDS)
            tell(f"{n_who_came(served)} people have come, {n_in_hand(served)} HITs are in hand")
            for host, words in VICTIMS:
                tell(kill(served, host, words))
            assert wait_until(lambda: is_ripe(served), 2 * MOST_SECONDS), per_stage(served)
        tell(f"{len(taken)} HITs were said to be handed in")
        settle(served, instance)
        tell(f"all is settled: {per_stage(served)}")
        check_taken(served, taken)
        check_pay(served, instance)
        tell(f"two doctors: {check_doctors(served)}")
        release(instance, tmp_path)
        tell("released")
    replay(tmp_path)
    tell("replayed")


class Teller:
    """Prints what happens, and when."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    def __call__(self, what: str) -> None:
        print(f"{time.monotonic() - self.began:4.0f} s: {what}", flush=True)


def n_in_hand(served: Site) -> int:
    """Return how many leases are held now."""
    [(number,)] = ask(served.at_socket("collector"), IN_HAND)
    return int(number)


def n_who_came(served: Site) -> int:
    """Return how many people have taken a HIT so far."""
    [(number,)] = ask(served.at_socket("collector"), WHO_CAME)
    return int(number)


def per_stage(served: Site) -> dict[str, int]:
    """Return how many HITs were handed in of each stage, by its collection and name."""
    return dict(ask(served.at_socket("collector"), PER_STAGE))


def is_ripe(served: Site) -> bool:
    """Return whether there is something to release of every collection."""
    done = per_stage(served)
    [(said,)] = ask(served.at_socket("collector"), SAID)
    return said >= LEAST_SAID and all(done.get(name, 0) >= number for name, number in RIPE.items())


def n_handed_in(served: Site) -> int:
    """Return how much work the marketplace has."""
    [(number, _)] = ask(served.at_socket("marketplace"), HELD, ("submitted", "approved"))
    return int(number)


def kill(served: Site, host: str, words: str) -> str:
    """Kill one process; returns how soon work went on and all was well again."""
    served.strike(host, words)
    began, last = time.monotonic(), 0
    time.sleep(1)

    def goes_on() -> bool:
        nonlocal last
        with contextlib.suppress(psycopg2.OperationalError):
            last = last or n_handed_in(served)
            return served.runs_all() and served.is_well() and n_handed_in(served) > last
        return False

    assert wait_until(goes_on, MOST_SECONDS), f"{words} at {host}: {served.said()}"
    seconds = time.monotonic() - began
    time.sleep(BETWEEN_SECONDS)
    return f"{words} at {host} killed: all is well and work goes on after {seconds:.0f} s"


def settle(served: Site, instance: Instance) -> None:
    """Wait until all that was handed in is confirmed and paid."""

    def is_even() -> bool:
        open_work = instance.call(f"{HERE}:still_open")
        return not any(open_work.values()) and not n_submitted(served)

    assert wait_until(is_even, MOST_SECONDS), (
        instance.call(f"{HERE}:still_open"),
        instance.call(f"{HERE}:unpaid"),
        n_submitted(served),
    )


def n_submitted(served: Site) -> int:
    """Return how much work the marketplace holds that nobody has approved."""
    [(number, _)] = ask(served.at_socket("marketplace"), HELD, ("submitted",))
    return int(number)


def still_open() -> dict[str, int]:
    """Return how much is not confirmed, not paid or still talked about (runs on a host)."""
    from tasks.models import Dialog, Payment, PaymentState, ReceiptState, Submission

    unpaid = Payment.objects.filter(amount_cents__gt=0)
    return {
        "receipts": Submission.objects.filter(state=ReceiptState.HELD).count(),
        "payments": unpaid.exclude(state=PaymentState.CONFIRMED).count(),
        "dialogs": Dialog.objects.filter(settled=False).count(),
    }


def unpaid() -> list[dict[str, Any]]:
    """Return what each payment that is not confirmed is for, and waits for (runs on a host)."""
    from django.db.models import F

    from tasks.models import Payment, PaymentState

    told = {
        "stay": F("lease__state"),
        "receipt": F("lease__submission__state"),
        "work": F("submission__state"),
        "hit": F("posting__state"),
        "own_hit": F("posting__worker"),
    }
    rows = Payment.objects.filter(amount_cents__gt=0).exclude(state=PaymentState.CONFIRMED)
    return list(rows.values("key", "kind", "state", "reason", "refusal", **told))


def check_taken(served: Site, taken: list[tuple[str, str]]) -> None:
    """What the marketplace's page said is handed in is there, once."""
    kept = {(name, hit) for name, hit in ask(served.at_socket("marketplace"), HANDED_IN)}
    assert len(taken) == len(set(taken)) > 0
    assert set(taken) <= kept, set(taken) - kept


def check_pay(served: Site, instance: Instance) -> None:
    """Everybody is owed on the marketplace what Collector says, for each piece of work once."""
    theirs = {who: int(cents) for who, cents in ask(served.at_socket("marketplace"), EARNED)}
    ours = instance.call(f"{HERE}:earned")
    assert theirs == ours["people"]
    print(
        f"{len(theirs)} people, {ours['rewards']} rewards, {sum(theirs.values())} cents", flush=True
    )
    assert ours["rewards"] == ours["submissions"] == n_handed_in(served)
    for slug, found in ours["collections"].items():
        assert found["spent_cents"] == found["paid_cents"] > 0, slug
        assert found["overbooked"] == 0, slug


def earned() -> dict[str, Any]:
    """Return what everybody has earned, and what must add up (runs on a host)."""
    from django.db.models import Count, F, Q, Sum

    from collector.models import Collection
    from tasks.models import Lease, LeaseState, Payment, PaymentKind, Submission, Unit

    paid = Payment.objects.filter(amount_cents__gt=0).order_by()
    people = paid.values_list("worker__identity__person").annotate(cents=Sum("amount_cents"))
    in_hand = Q(leases__state__in=[LeaseState.LIVE, LeaseState.SUBMITTED])
    units = Unit.objects.annotate(held=Count("leases", filter=in_hand))
    return {
        "people": dict(people),
        "rewards": paid.filter(kind=PaymentKind.REWARD).count(),
        "submissions": Submission.objects.count(),
        "collections": {
            one.slug: {
                "spent_cents": one.spent_cents,
                "paid_cents": paid.filter(collection=one).aggregate(all=Sum("amount_cents"))["all"],
                "overbooked": units.filter(stage__collection=one, held__gt=F("redundancy")).count(),
            }
            for one in Collection.objects.all()
        },
        "leases": Lease.objects.count(),
    }


def check_doctors(served: Site) -> str:
    """Return what both doctors say: nothing is left of all those who died."""
    told = served.instance("web", served.web).environment
    told.pop("DJANGO_SETTINGS_MODULE")
    said = []
    for words in (["manage.py", "doctor"], ["-m", "marketplace", "doctor"]):
        asks = served.web.inside(sys.executable, *words)
        found = subprocess.run(asks, env=told, cwd=ROOT, capture_output=True, text=True)
        assert found.returncode == 0, found.stdout + found.stderr
        said.append(found.stdout.strip())
    return " ".join(said)


def release(instance: Instance, folder: Path) -> None:
    """Decide, split and release everything, with the log of who did what."""
    for slug in CHANGED:
        instance.run("validate_answers", slug)
        if slug == "hotpotqa":
            instance.run("judge_difficulty", slug, "--as-multi-hop")
        instance.run("make_splits", slug)
        log = folder / f"{slug}.jsonl"
        instance.run("export_dataset", slug, "--out", str(folder / slug), "--log", str(log))


def replay(folder: Path) -> None:
    """Do all work again in one process: every release is the same, byte for byte."""
    home = folder / "again"
    home.mkdir()
    with serving(home, FAST_JOBS) as instance:
        instance.call(f"{HERE}:read_all")
        for slug in CHANGED:
            out, began = folder / f"{slug} again", time.monotonic()
            log = str(folder / f"{slug}.jsonl")
            said = instance.run("replay_log", log, "--out", str(out))
            print(f"{slug}: {time.monotonic() - began:.0f} s, {said}", flush=True)
            assert contents(out) == contents(folder / slug)


def open_all() -> None:
    """Read the sample's texts and open a collection of every protocol (runs on a host)."""
    from collector.serving import sample

    demos = sample.demos(sample.read_plan())
    assert demos.keys() == CHANGED.keys()
    for protocol, chosen in demos.items():
        changed = {**chosen.get("parameters", {}), "pay.approve_after_hours": 0}
        chosen |= {"slug": protocol, "budget": 90000, "seeds": SEEDS[protocol], "seed": 5}
        chosen["parameters"] = {**changed, **CHANGED[protocol]}
        sample.read_corpus(chosen["corpus"])
        sample.open_collection(chosen)


def read_all() -> None:
    """Read the sample's texts (runs on the instance's databases)."""
    from collector.serving import sample

    for chosen in sample.demos(sample.read_plan()).values():
        sample.read_corpus(chosen["corpus"])


@contextlib.contextmanager
def working(served: Site) -> Iterator[list[tuple[str, str]]]:
    """Have everybody work meanwhile; yield what they were told is taken, filled afterwards."""
    taken: list[tuple[str, str]] = []
    names = sorted(CHANGED)
    pace = {
        "people": -(-N_WORKERS // len(names)),
        "pause_seconds": PAUSE_SECONDS,
        "think_seconds": THINK_SECONDS,
        "stays": True,
    }
    others = [name for name in names if name not in QUALIFYING]
    crowds = [
        served.workers.begin(
            [
                sys.executable,
                "-m",
                "tests.rehearsals.steady_crowds",
                json.dumps([*chosen, 5, pace]),
            ],
            served.folder / "crowd.log",
            env={
                **served.instance("workers", served.workers).environment,
                "DJANGO_SETTINGS_MODULE": "collector.settings",
            },
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for chosen in ([list(QUALIFYING), others[:1]], [[], others[1:]])
    ]
    try:
        yield taken
        for crowd in crowds:
            crowd.send_signal(signal.SIGTERM)
        for crowd in crowds:
            said, _ = crowd.communicate(timeout=120)
            taken += [(name, hit) for name, hit in json.loads(said)]
    finally:
        for crowd in crowds:
            process_groups.end(crowd)
