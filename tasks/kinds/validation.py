"""Validation HITs: the questions of a finished dialog, answered again from its text, in order.

A question is shown when the one before it has been answered, and what its teacher answered when
the worker has: both leave the server no earlier, and an answer that was given stays as it is.
"""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from collector.ingest.sentences import split
from tasks.dialog.sections import section_of
from tasks.kinds import listed
from tasks.kinds.answer import allowed as allowed_to_vote
from tasks.kinds.answer import questions_shown, seeds_shown, share_done, store
from tasks.models import Exposure, Lease, Unit, UnitItem, Worker
from tasks.widgets import reply
from tasks.widgets.problems import Problem
from tasks.work.articles import Documents
from tasks.work.ordered_answers import give, locked_answers, ordered_answers

__all__ = [
    "allowed",
    "clean",
    "fixed",
    "give",
    "limits",
    "own",
    "page_items",
    "seeds_shown",
    "share_done",
    "store",
    "unfinished",
]
KIND = "validation"
# Of a section such a stage shows how its article begins, and nothing more.
SHOWS_NO_SECTION = "text"


# The types that a requester can correct an answer of this kind to.
CORRECTIONS = ("span", "none")


def allowed(units: QuerySet[Unit], worker: Worker) -> QuerySet[Unit]:
    """Leave out units of a dialog the worker was in, or of a section they have seen elsewhere.

    Whoever was shown the section by this very unit may come back to it.
    """
    seen = Exposure.objects.filter(worker=worker).exclude(kind=SHOWS_NO_SECTION)
    items = UnitItem.objects.filter(unit=OuterRef("pk"))
    of_other_kinds = items.filter(question__seed__in=seen.exclude(kind=KIND).values("seed_id"))
    of_this_kind = items.filter(question__seed__in=seen.filter(kind=KIND).values("seed_id"))
    begun = Lease.objects.filter(unit=OuterRef("pk"), worker=worker)
    return (
        allowed_to_vote(units, worker)
        .exclude(Exists(of_other_kinds))
        .exclude(Exists(of_this_kind) & ~Exists(begun))
    )


def page_items(unit: Unit) -> list[dict[str, Any]]:
    """Return the sections to answer from, None where it is that of the item before.

    The questions are told one after the other: see `own`.
    """
    items: list[dict[str, Any]] = []
    last = None
    for item, seed, _, _ in questions_shown(unit):
        items.append({"id": item, "passage": None if seed == last else _passage(seed)})
        last = seed
    return items


def _passage(seed: int) -> dict[str, Any]:
    section = section_of(seed)
    return {
        "title": section.title,
        "section": section.heading,
        "background": section.background,
        "text": section.text,
        "tokens": section.tokens,
        "paragraphs": section.paragraphs,
        "sentences": [
            [start + first, start + last]
            for start, end in section.paragraphs
            for first, last in split(section.text[start:end], section.language)
        ],
        "lang": section.language,
        "dir": section.direction,
    }


def own(lease: Lease) -> dict[str, Any]:
    """Return what only this stay's page is told: how far its worker has come."""
    return {"ordered_answers": ordered_answers(lease)}


def limits(table: Any, checks: Any) -> dict[str, Any]:
    """Return the numbers the page counts against, and whether a hint to the student is asked."""
    return {"max_span_tokens": table.max_span_tokens, "continuation": table.continuation}


def fixed(lease: Lease, data: object) -> dict[str, Any]:
    """Return `data` with the answers that were given before as they were given."""
    given = {str(position): answer for position, answer in locked_answers(lease).items()}
    sent = listed(data.get("answers")) if isinstance(data, dict) else []
    rest = [each for each in sent if not isinstance(each, dict) or each.get("item") not in given]
    return {"answers": [*given.values(), *rest]}


def clean(
    data: object, items: list[dict[str, Any]], documents: Documents, table: Any, checks: Any
) -> tuple[dict[str, Any], list[Problem]]:
    """Return {"answers": […]}, one per question, with every span proven, and what is wrong."""
    return reply.clean_all(
        data,
        reply.passages_of(items),
        most_tokens=table.max_span_tokens,
        continuation=table.continuation,
    )


def unfinished(lease: Lease) -> list[Problem]:
    """Return which question still has to be answered before the next can be."""
    n_given, n_items = len(locked_answers(lease)), lease.unit.items.count()
    if n_given == n_items:
        return []
    return [Problem(f"Answer question {n_given + 1} of {n_items} first.", n_given, "spans")]
