"""From a dump of real text to a released dataset, as one machine serves it: on SQLite.

On PostgreSQL the same way is walked by the tests of injected faults and of replayed logs.
"""

import hashlib
import json
import time
from pathlib import Path

from common.trace import assignment_digest
from tests.serving import ROOT, Instance, serving

SAMPLE = ROOT / "deploy" / "sample" / "quarnsey.xml"
REAL = Path("wiki") / "enwiki-rappers-eastcoast-2023.xml.bz2"
# A job that is at a collection is waited for so long.
SECONDS = 60
# A slice of a wiki holds few of the articles it links to.
IN_SLICE = ["--set", "seeds.min_links_in_corpus=3", "--set", "pay.approve_after_hours=0"]


def collect(instance: Instance, dump: Path, out: Path, *options: str) -> None:
    """Walk every step a requester would type, with simulated workers."""
    instance.run("ingest_dump", str(dump), "--corpus", "read", "--licence", "CC BY-SA 4.0")
    create = ["--protocol", "iirc", "--corpus", "read", "--budget", "600", "--seed", "3"]
    instance.run("create_collection", "whole", *create, *options)
    instance.run("select_seeds", "whole", "--count", "30")
    instance.run("publish", "whole")
    instance.run("simulate", "whole", "--workers", "7", "--inspect", "--seed", "3")
    instance.run("validate_answers", "whole")
    instance.run("make_splits", "whole")
    instance.run("export_dataset", "whole", "--out", str(out))


def test_a_dump_becomes_a_released_dataset(tmp_path: Path, data: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    with serving(home, {"COLLECTOR_LOG_FORMAT": "json"}) as instance:
        collect(instance, data / REAL, out, *IN_SLICE)
        report = json.loads(instance.run("report", "whole", "--json"))
        money = instance.call("tests.test_whole_way:money", "whole")
        before, after = instance.call("tests.test_whole_way:pay_bonuses_from_both_sides", "whole")
        stays = instance.call("tests.test_whole_way:assignments")
    # The marketplace knows no fee, and this collection is its only one.
    assert before["ours"] == before["theirs"] > 0
    assert after["ours"] == after["theirs"] == before["ours"] + 125 + 70
    assert after["spent"] == after["ours"]
    check_release(out)
    assert report
    assert money["due"] == 0
    assert money["spent_cents"] == money["confirmed_cents"] > 0
    assert money["submissions"] == money["rewards"]

    check_log((home / "server.log").read_text("utf-8"), stays)


def check_log(log: str, assignments: list[str]) -> None:
    """Each piece of work can be followed: page, marketplace, job, and the call that paid it."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert len(assignments) > 10
    followed = 0
    for assignment in assignments:
        mine = [line for line in lines if line.get("assignment") == assignment_digest(assignment)]
        said = {line["message"]: line for line in mine}
        # Whoever knows an assignment's id may hand in for its worker.
        assert assignment not in log
        page = said["POST hit_submit 200"]
        assert "POST external-submit 200" in said
        assert {line["lease"] for line in mine if "lease" in line} == {page["lease"]}
        if paid := said.get("ApproveAssignment 200"):
            # Its request is that of the job that asked for it.
            same = [line for line in lines if line["request"] == paid["request"]]
            if any(line["message"].startswith("job look_after_collection") for line in same):
                followed += "confirmed by the marketplace" in said
    assert followed > 5


def assignments() -> list[str]:
    """Return the ids of what was handed in (runs on the instance's databases)."""
    from tasks.models import Submission

    return list(Submission.objects.values_list("lease__session__session_id", flat=True))


def money(slug: str) -> dict[str, int]:
    """Return what the ledger says of a collection (runs on the instance's databases)."""
    from django.db.models import Sum

    from collector.models import Collection
    from tasks.models import Payment, PaymentKind, PaymentState, Submission

    collection = Collection.objects.get(slug=slug)
    payments = Payment.objects.filter(collection=collection)
    confirmed = payments.filter(state=PaymentState.CONFIRMED)
    return {
        "due": payments.filter(state=PaymentState.DUE).count(),
        "spent_cents": collection.spent_cents,
        "confirmed_cents": confirmed.aggregate(all=Sum("amount_cents"))["all"],
        "rewards": payments.filter(kind=PaymentKind.REWARD).count(),
        "submissions": Submission.objects.count(),
    }


def pay_bonuses_from_both_sides(slug: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return what both ledgers say before and after bonuses (runs on the instance's databases)."""
    from uuid import uuid4

    from django.core.management import call_command
    from django.utils import timezone

    from tasks.crowd import marketplace
    from tasks.ledger.payments import give_bonus
    from tasks.models import Submission

    before = both_ledgers(slug)
    one, other = Submission.objects.filter(lease__unit__stage__collection__slug=slug)[:2]
    give_bonus(one.lease, 125, "The clearest questions.", "rita", uuid4(), timezone.now())
    stay = other.session
    marketplace.send_bonus(
        stay.person, stay.session_id, amount="0.70", reason="Thank you.", token="desk"
    )
    after = before
    for _ in range(SECONDS):
        # It does nothing while a job is at it.
        call_command("collect", slug)
        after = both_ledgers(slug)
        if after["ours"] == after["theirs"] == before["ours"] + 125 + 70:
            break
        time.sleep(1)
    return before, after


def both_ledgers(slug: str) -> dict[str, int]:
    """Return in cents what the collection has confirmed and spent, and what is owed for it."""
    from django.db.models import Sum

    from collector.models import Collection
    from marketplace.models import LedgerEntry, LedgerKind
    from tasks.models import Payment, PaymentState

    ours = Payment.objects.filter(collection__slug=slug, state=PaymentState.CONFIRMED)
    theirs = LedgerEntry.objects.filter(kind__in=[LedgerKind.REWARD, LedgerKind.BONUS])
    all_cents = Sum("amount_cents", default=0)
    return {
        "ours": ours.aggregate(all=all_cents)["all"],
        "theirs": theirs.aggregate(all=all_cents)["all"],
        "spent": Collection.objects.get(slug=slug).spent_cents,
    }


def check_release(out: Path) -> None:
    """Every fold has questions, every offset is true, every checksum holds."""
    articles = json.loads((out / "context_articles.json").read_text())
    assert articles
    for fold in ("train", "dev", "test"):
        passages = json.loads((out / f"{fold}.json").read_text())
        assert passages, f"{fold} is empty"
        for passage in passages:
            assert len({link["target"] for link in passage["links"]}) >= 10
            assert passage["questions"]
            for question in passage["questions"]:
                check_evidence(passage["text"], question)
    for line in (out / "SHA256SUMS").read_text().splitlines():
        checksum, name = line.split(maxsplit=1)
        content = (out / name.lstrip("*")).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum


def check_evidence(text: str, question: dict) -> None:
    """The writer's links are picked, and evidence in the passage is where it says it is."""
    assert question["question_links"]
    for evidence in question["context"]:
        start, end = evidence["indices"]
        if evidence["passage"] == "main":
            assert text[start:end] == evidence["text"]
        assert end - start == len(evidence["text"])
