"""What a long run should have reached: every route that takes a form, operation and command."""

from collections.abc import Set

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
    from marketplace.wire.registry import OPERATIONS

    rooms = ("collector", "tasks", "annotation", "marketplace")
    commands = {name for name, app in get_commands().items() if app in rooms}
    routes = posting_routes("collector.urls") | posting_routes("marketplace.urls")
    return sorted((routes | {*OPERATIONS} | commands) - reached - {*LEFT_OUT})
