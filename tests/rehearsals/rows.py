"""What rehearsals of dialogs put into an instance's databases, and what they read of them."""

import random
from datetime import timedelta
from typing import Any

from django.db import connections
from django.db.models import Count, F, Max, Q, Sum
from django.utils import timezone

# A dialog of a rehearsal never ends because somebody is slow, unless the test says so.
PATIENT = {
    "dialog.requires_student": "",
    "dialog.requires_teacher": "",
    "dialog.ready_seconds": 600,
    "dialog.grace_seconds": 600,
}


def lay_out(
    n_people: int, n_sections: int, overrides: dict[str, Any], n_words: int = 0
) -> list[str]:
    """Return the tokens of so many people at work on a ticket each; there are enough of them.

    n_words: how many words, each of its own, the sections have instead of the usual text.
    """
    from tasks.dialog.tests.making import make_dialogs
    from tasks.people.lease_context import lease_token
    from tasks.tests.making import make_posting, stage_of
    from tests.rehearsals.many_leases import put_leases

    flat = {name.replace(".", "__"): value for name, value in {**PATIENT, **overrides}.items()}
    collection = make_dialogs(n_sections, budget_cents=10**9, **flat)
    if n_words:
        _rewrite(collection.corpus_id, n_words)
    stage = stage_of(collection, "dialog")
    posting = make_posting(stage, 30, 30)
    first = (stage.units.aggregate(last=Max("position"))["last"] or 0) + 1
    leases = put_leases(stage, posting, range(first, first + n_people))
    return [lease_token(lease) for lease in leases]


def leave_to_sockets(slug: str) -> None:
    """Let no round ask the marketplace about people and HITs that it has never heard of."""
    from collector.models import Collection, CollectionState

    Collection.objects.filter(slug=slug).update(state=CollectionState.DRAFT)


def _rewrite(corpus: int, n_words: int) -> None:
    """Give every section words that nobody could guess."""
    from collector.models import Paragraph

    rng = random.Random(corpus)
    paragraphs = list(Paragraph.objects.filter(article__corpus=corpus, section__position__gt=0))
    for paragraph in paragraphs:
        words = ["".join(rng.choices("bdfgklmnprst", k=6)) for _ in range(n_words // 2)]
        marks = (". " if not number % 11 else " " for number in range(1, len(words) + 1))
        paragraph.text = "".join(map("".join, zip(words, marks, strict=True))).strip() + "."
    Paragraph.objects.bulk_update(paragraphs, ["text"], batch_size=500)


def sweep() -> int:
    """Pair those who wait and missed each other, as the clock has it done; returns how many."""
    from tasks.dialog.maintenance import maintain_dialogs, stages_to_maintain

    found = [
        maintain_dialogs(stage, timezone.now(), random.Random(1)) for stage in stages_to_maintain()
    ]
    return sum(each["paired"] for each in found) // 2


def pairs() -> dict[str, int]:
    """Return how many dialogs there are, and whether each is of two people, once."""
    from tasks.models import Dialog

    rows = list(Dialog.objects.values_list("student_id", "teacher_id", "topic_id"))
    people = [person for student, teacher, _ in rows for person in (student, teacher)]
    met = [(person, topic) for student, teacher, topic in rows for person in (student, teacher)]
    return {
        "dialogs": len(rows),
        "people": len(people),
        "different_people": len(set(people)),
        "with_oneself": sum(student == teacher for student, teacher, _ in rows),
        "twice_on_a_section": len(met) - len(set(met)),
    }


def messages() -> list[str]:
    """Return the ids of all messages that are stored."""
    from tasks.models import Turn

    connections.close_all()
    found = []
    for asked, answered in Turn.objects.values_list("question_message", "answer_message"):
        found += [str(asked), *([str(answered)] if answered else [])]
    return found


def state() -> dict[str, Any]:
    """Return what became of all dialogs, and whether the ledger says what the turns say."""
    from collector.models import Collection, Stage
    from tasks.dialog.dialog_state import dialog_table
    from tasks.models import Dialog, Payment, Ticket, Turn
    from tasks.work.dialog_rules import earned_cents, limits_of

    # The server may have been killed since the last time.
    connections.close_all()
    dialogs = Dialog.objects.annotate(n=Count("turns", filter=Q(turns__answered_at__isnull=False)))
    stage = Stage.objects.select_related("collection").get(kind="dialog")
    limits = limits_of(dialog_table(stage))
    settled = dialogs.filter(settled=True).values_list("n", flat=True)
    turns = Payment.objects.filter(key__startswith="turns:")
    money = Collection.objects.get(protocol="quac")
    return {
        "states": dict(Dialog.objects.values_list("state").annotate(Count("id"))),
        "endings": dict(Dialog.objects.values_list("ending").annotate(Count("id"))),
        "tickets": dict(Ticket.objects.values_list("state").annotate(Count("id"))),
        "over_unsettled": Dialog.objects.filter(state="over", settled=False).count(),
        "turns": Turn.objects.count(),
        "owed_cents": turns.aggregate(all=Sum("amount_cents"))["all"] or 0,
        "earned_cents": sum(2 * earned_cents(number, limits) for number in settled),
        "reserved_cents": money.reserved_cents,
        "spent_cents": money.spent_cents,
        "payments_cents": Payment.objects.filter(collection=money).aggregate(
            all=Sum(F("amount_cents") + F("fee_cents"))
        )["all"]
        or 0,
    }


def sections() -> dict[str, dict[str, str]]:
    """Return each dialog's section, and what its student may know of it."""
    from tasks.models import Dialog
    from tasks.work.passages import section_of

    found = {}
    for dialog in Dialog.objects.select_related("topic"):
        section = section_of(dialog.topic.seed_id)
        picked = [section.text[turn.start : turn.end] for turn in dialog.turns.filter(start__gte=0)]
        found[str(dialog.pk)] = {
            "text": section.text,
            "known": "\n".join([section.title, section.heading, section.background, *picked]),
        }
    return found


def make_old(seconds: float) -> None:
    """Let all that happened have happened so much earlier, so that times run out now."""
    from tasks.models import Dialog, Ticket

    earlier = timedelta(seconds=seconds)
    Dialog.objects.update(moved_at=F("moved_at") - earlier, began_at=F("began_at") - earlier)
    Ticket.objects.update(
        waiting_since=F("waiting_since") - earlier, seen_at=F("seen_at") - earlier
    )
