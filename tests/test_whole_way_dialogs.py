"""From a dump of real text to released dialogs, on PostgreSQL, where races show.

Simulated students and teachers qualify, are paired, talk over sockets and validate each other's
dialogs. `make demo PROTOCOL=quac` walks the same way on SQLite, with the sample corpus.
"""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.quac.file_format import CANNOT_ANSWER
from tests.migrated_databases import databases
from tests.serving import Instance, serving

REAL = Path("wiki") / "enwiki-rappers-eastcoast-2023.xml.bz2"
# A slice of a wiki has few links, and a small crowd cannot talk about a hundred sections.
SMALL = {
    "pay.approve_after_hours": "0",
    "seeds.category_keywords": "[]",
    "seeds.min_incoming_links": "3",
    "splits.train": "4",
    "splits.dev": "1",
    "splits.test": "1",
    "dialog.redundancy.train": "2",
    "validation.redundancy.dev": "2",
    "validation.redundancy.test": "2",
}
# The folds by the names of the official files.
FOLDS = {"train": "train", "val": "dev", "test": "test"}
# The reasons of verdicts.
KEPT = {"single_teacher", "validated"}
NOT_KEPT = {"short_dialog", "waiting_for_validators"}


def collect(instance: Instance, dump: Path, out: Path, changed: dict[str, str]) -> None:
    """Walk every step a requester would type, with simulated workers."""
    settings = [word for name, value in changed.items() for word in ("--set", f"{name}={value}")]
    instance.run("ingest_dump", str(dump), "--corpus", "read", "--licence", "CC BY-SA 4.0")
    create = ["--protocol", "quac", "--corpus", "read", "--budget", "600", "--seed", "3"]
    instance.run("create_collection", "whole", *create, *settings)
    instance.run("select_seeds", "whole", "--count", "4")
    instance.run("publish", "whole")
    instance.run("simulate", "whole", "--workers", "10", "--inspect", "--seed", "3")
    instance.run("validate_answers", "whole")
    instance.run("make_splits", "whole")
    instance.run("export_dataset", "whole", "--out", str(out))


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_a_dump_becomes_released_dialogs(tmp_path: Path, data: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    with databases("whole_dialogs") as settings, serving(home, settings) as instance:
        collect(instance, data / REAL, out, SMALL)
        report = json.loads(instance.run("report", "whole", "--json"))
        rows = instance.call("tests.test_whole_way_dialogs:rows", "whole")
    assert report
    check_rows(rows)
    check_release(out, rows)


def rows(slug: str) -> dict[str, Any]:
    """Return what must add up (runs on the instance's databases)."""
    from django.db.models import Sum

    from annotation.models import Verdict
    from collector.models import Collection
    from tasks.models import Dialog, Payment, PaymentState, Ticket

    collection = Collection.objects.get(slug=slug)
    payments = Payment.objects.filter(collection=collection)
    cents = payments.aggregate(all=Sum("amount_cents"))["all"]
    dialogs = Dialog.objects.filter(stage__collection=collection)
    return {
        "due": payments.filter(state=PaymentState.DUE).count(),
        "spent_cents": collection.spent_cents,
        "payments_cents": cents,
        "for_turns_cents": payments.filter(key__startswith="turns:").aggregate(
            all=Sum("amount_cents")
        )["all"],
        "dialogs": [
            {
                "turns": dialog.turns.filter(answered_at__isnull=False).count(),
                "people": [dialog.student_id, dialog.teacher_id],
                "over": bool(dialog.settled),
                "fold": dialog.topic.seed.fold,
            }
            for dialog in dialogs
        ],
        "verdicts": list(
            Verdict.objects.filter(
                question__stage__collection=collection, question__stage__name="dialog"
            ).values_list("question__seed__fold", "reason")
        ),
        "tickets": sorted(set(Ticket.objects.values_list("state", flat=True))),
    }


def check_rows(rows: dict[str, Any]) -> None:
    """Every dialog is over and paid by its turns, and all money is accounted for."""
    schedule = range(21, 33)
    assert rows["dialogs"]
    assert all(dialog["over"] for dialog in rows["dialogs"])
    assert all(len(set(dialog["people"])) == 2 for dialog in rows["dialogs"])
    earned = sum(2 * sum(schedule[: dialog["turns"]]) for dialog in rows["dialogs"])
    assert rows["for_turns_cents"] == earned > 0
    assert rows["spent_cents"] == rows["payments_cents"]
    assert (rows["due"], rows["tickets"]) == (0, ["done"])


def check_release(out: Path, rows: dict[str, Any]) -> None:
    """Each fold has its questions that are kept, by dialogs; offsets and checksums are true.

    Chance says how many turns simulated students take, and who of so few may validate: a fold with
    one dialog may have none that is kept.
    """
    assert {reason for _, reason in rows["verdicts"]} <= {*KEPT, *NOT_KEPT}
    assert any(reason in KEPT for _, reason in rows["verdicts"])
    for fold in FOLDS:
        lengths = []
        for section in json.loads((out / f"{fold}_v0.2.json").read_text())["data"]:
            assert section["title"]
            assert section["background"]
            for dialog in section["paragraphs"]:
                assert len(dialog["qas"]) >= 3
                lengths.append(len(dialog["qas"]))
                for question in dialog["qas"]:
                    check_question(dialog["context"], question, n_votes=1 if fold == "train" else 3)
        talked = [dialog["turns"] for dialog in rows["dialogs"] if dialog["fold"] == FOLDS[fold]]
        assert not Counter(lengths) - Counter(talked)
        kept = [reason in KEPT for held, reason in rows["verdicts"] if held == FOLDS[fold]]
        assert sum(lengths) == sum(kept)
    for line in (out / "SHA256SUMS").read_text().splitlines():
        checksum, name = line.split(maxsplit=1)
        content = (out / name.lstrip("*")).read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum


def check_question(context: str, question: dict[str, Any], n_votes: int) -> None:
    """Every answer is where it says it is; the teacher's is the last of all."""
    assert context.endswith(f" {CANNOT_ANSWER}")
    assert len(question["answers"]) == n_votes
    assert question["answers"][-1] == question["orig_answer"]
    for answer in question["answers"]:
        start = answer["answer_start"]
        assert context[start : start + len(answer["text"])] == answer["text"]
    assert question["yesno"] in "ynx"
    assert question["followup"] in "ymn"
