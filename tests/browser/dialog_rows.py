"""What tests of live dialogs prepare and look up; runs in the instance's own desk."""

from typing import Any

from django.core.management import call_command

from tasks.models import Answer, Dialog, Payment, Ticket
from tasks.work.passages import section_of
from tests.browser.rows import read_sample

CHOSEN = (
    "seeds.category_keywords=[]",
    "seeds.min_incoming_links=0",
    "splits={train = 4, dev = 1, test = 1}",
    'dialog.requires_student=""',
    'dialog.requires_teacher=""',
    "dialog.grace_seconds=60",
)


def open_talks(slug: str, title: str, *changes: str) -> None:
    """Open a collection whose dialogs everybody may take; `changes` read "name=value"."""
    read_sample()
    call_command(
        "create_collection",
        slug,
        protocol="quac",
        corpus="quarnsey",
        title=f"The collection {slug}",
        budget=900,
        seed=7,
        requester="Rita",
        contact="rita@example.org",
        set=[*CHOSEN, f'dialog.title="{title}"', *changes],
    )
    call_command("select_seeds", slug, count=4)
    call_command("publish", slug)


def kept(slug: str) -> dict[str, Any]:
    """Return the collection's dialogs as their rows hold them, and who is owed what for them."""
    dialogs = Dialog.objects.filter(stage__collection__slug=slug).order_by("id")
    payments = Payment.objects.filter(collection__slug=slug, key__startswith="turns:")
    return {
        "dialogs": [_dialog(row) for row in dialogs.select_related("topic")],
        "answers": [
            {"question": answer.question.text, "type": answer.type, **answer.payload}
            for answer in Answer.objects.filter(stage__collection__slug=slug)
            .select_related("question")
            .order_by("id")
        ],
        "turns_cents": sorted(payments.values_list("amount_cents", flat=True)),
        "states": sorted(
            Ticket.objects.filter(stage__collection__slug=slug).values_list("state", flat=True)
        ),
    }


def _dialog(row: Dialog) -> dict[str, Any]:
    text = section_of(row.topic.seed_id).text
    return {
        "id": row.pk,
        "ending": row.ending,
        "section": text,
        "turns": [
            {
                "question": turn.question,
                "answer": None if turn.start is None else text[turn.start : turn.end],
                "answered": turn.answered_at is not None,
                "continuation": turn.continuation,
                "affirmation": turn.affirmation,
            }
            for turn in row.turns.order_by("number")
        ],
    }
