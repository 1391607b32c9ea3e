"""Two hundred workers, and a server killed in the middle: nothing lost, nobody paid twice."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import process_groups
from tests.migrated_databases import databases
from tests.serving import ROOT, Instance, serving
from tests.test_whole_way import SAMPLE, money

pytestmark = pytest.mark.django_db(transaction=True)
CREATE = ["--protocol", "iirc", "--corpus", "read", "--budget", "2000", "--seed", "5"]


def prepare(instance: Instance, seeds: int) -> None:
    """Open a collection on the sample corpus."""
    instance.run("ingest_dump", str(SAMPLE), "--corpus", "read", "--licence", "CC0 1.0")
    instance.run("create_collection", "whole", *CREATE)
    instance.run("select_seeds", "whole", "--count", str(seeds))
    instance.run("publish", "whole")


def check_money(instance: Instance) -> None:
    """Every submission has one reward, and the budget says what the ledger says."""
    found = instance.call("tests.rehearsals.test_crowd:ledger", "whole")
    print(found)
    assert found["submissions"] == found["rewards"] == found["leases"]
    assert found["spent_cents"] == found["ledger_cents"]
    assert found["overbooked"] == 0


def ledger(slug: str) -> dict[str, int]:
    """Return what must add up (runs on the instance's databases)."""
    from django.db.models import Count, Q, Sum

    from tasks.models import Lease, LeaseState, Payment, ReceiptState, Submission, Unit

    payments = Payment.objects.filter(collection__slug=slug)
    leases = Lease.objects.filter(unit__stage__collection__slug=slug)
    submitted = Count("leases", filter=Q(leases__state=LeaseState.SUBMITTED))
    units = Unit.objects.filter(stage__collection__slug=slug).annotate(handed_in=submitted)
    return {
        **{name: value or 0 for name, value in money(slug).items()},
        "ledger_cents": payments.aggregate(all=Sum("amount_cents"))["all"] or 0,
        "held": Submission.objects.filter(state=ReceiptState.HELD).count(),
        "leases": leases.filter(state=LeaseState.SUBMITTED).count(),
        "overbooked": sum(unit.handed_in > unit.redundancy for unit in units),
    }


def test_two_hundred_workers_share_what_there_is(tmp_path: Path) -> None:
    with databases("crowd") as settings, serving(tmp_path, settings) as instance:
        prepare(instance, 110)
        began = time.monotonic()
        said = instance.run("simulate", "whole", "--workers", "200", "--inspect", "--threads", "8")
        print(said, f"{time.monotonic() - began:.0f} s")
        check_money(instance)


def test_a_killed_server_loses_nothing_and_pays_nobody_twice(tmp_path: Path) -> None:
    with databases("killed") as settings, serving(tmp_path, settings) as instance:
        prepare(instance, 60)
        crowd = process_groups.begin(
            [sys.executable, "manage.py", "simulate", "whole", "--workers", "20", "--inspect"],
            env=instance.environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(15)
        instance.stop(signal.SIGKILL)
        crowd.wait(timeout=120)
        instance.start()
        instance.run("simulate", "whole", "--workers", "20", "--inspect")
        check_money(instance)
