"""What a long run should have reached: every route that takes a form, operation, command, state."""

from collections.abc import Set
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.db.models import QuerySet

# States that one wants to have seen, noted by acts and by what goes over sockets.
NOTED = (
    "a dialog between two processes",
    "a move stored and not yet shown to the partner",
    "a move sent again after a cut",
    "a payment whose reply was lost",
    "a release made again",
    "an approval during a merge of accounts",
    "a page out of date was sent",
    "a page whose process died",
    "a round that died",
    "jobs interrupted",
    "sent twice",
    "the reply to a save was lost",
    "web interrupted",
)

# Left out, each with the reason.
LEFT_OUT = {
    **dict.fromkeys(
        ("sign_in", "sign_out", "sign-in", "sign-out", "desk-sign-in", "desk-sign-out", "password"),
        "ends or begins a visit; nothing of a collection follows from it",
    ),
    **dict.fromkeys(
        ("begin_rehearsal", "end_rehearsal", "begin_baseline", "end_baseline", "begin_judging"),
        "starts processes of its own; rehearsed by themselves",
    ),
    **dict.fromkeys(
        ("upload", "upload_into", "duplicate", "new_collection"),
        "begins another corpus or collection; see parameters.py",
    ),
    **dict.fromkeys(
        ("run", "serve", "demo", "deliver_events", "rehearse", "simulate", "baseline"),
        "serves, or does all that the acts do",
    ),
    **dict.fromkeys(
        ("ingest_dump", "ingest_books", "ingest_documents", "build_graph", "build_index", "score"),
        "reads files, and no rows of a collection",
    ),
}


def unreached(reached: Set[str]) -> list[str]:
    """Return the names of routes, operations and commands of ours that no act has reached."""
    from django.core.management import get_commands

    from common.tests.forms import posting_routes
    from marketplace.wire.calls import OPERATIONS

    rooms = ("collector", "tasks", "annotation", "marketplace")
    commands = {name for name, app in get_commands().items() if app in rooms}
    routes = posting_routes("collector.urls") | posting_routes("marketplace.urls")
    return sorted((routes | {*OPERATIONS} | commands) - reached - {*LEFT_OUT})


def stored() -> dict[str, "QuerySet[Any]"]:
    """Return the others: by name, which rows are there at a run's end once it was seen."""
    from django.db.models import Count, F

    from annotation.models import Release
    from tasks.models import Dialog, ExampleCount, PartnerReport, Submission, Ticket, Worker
    from tasks.work.dialog_rules import Ending

    late = Submission.objects.filter(counts=False, lease__state="expired")
    counted = ExampleCount.objects.filter(worker__identity=None)
    withdrawn = Worker.objects.filter(withdrawn_at__isnull=False)
    partners = Count("as_student", distinct=True) + Count("as_teacher", distinct=True)
    return {
        **{f"a dialog: {end}": Dialog.objects.filter(ending=end, settled=True) for end in Ending},
        "a partner after another one": Ticket.objects.alias(n=partners).filter(n__gt=1),
        "a partner report decided": PartnerReport.objects.exclude(decision=""),
        "a late submission that found its place taken": late.filter(
            lease__unit__taken__gte=F("lease__unit__redundancy")
        ),
        "a round's prize after one of its people had left": counted.filter(
            stage__payments__key__startswith="top:",
            stage__payments__created_at__gt=F("worker__withdrawn_at"),
        ),
        "a release after a withdrawal": Release.objects.filter(
            created_at__gt=withdrawn.order_by("withdrawn_at").values("withdrawn_at")[:1]
        ),
    }


def unseen(states: Set[str]) -> list[str]:
    """Return the states that no run has seen."""
    return sorted({*NOTED, *stored()} - states)
