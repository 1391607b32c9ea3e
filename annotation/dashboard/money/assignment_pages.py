"""Deciding about pay: one assignment, with what the worker wrote on the screen, or several."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.lists import asks_for_csv, csv_of, decide_each, read_in_parts
from annotation.dashboard.money.assignments import (
    FILTERS,
    ORDERS,
    Line,
    WorkFilter,
    assignments_of,
    counts_of,
    in_order,
    lines_of,
)
from annotation.dashboard.money.bonuses import bonus_form, bonuses_of
from annotation.dashboard.questions.submission_sheets import sheets_of
from annotation.dashboard.worker_names import people_of
from common.actions import ActionError
from common.seen_version import check_seen, version_of
from tasks.ledger.hours_until_paid import hours_of
from tasks.models import ReceiptState, Session, Submission
from tasks.paying.pay_decisions import ACTS, TOLD, paid_apart
from tasks.paying.rejections import LONGEST_REASON, can_be_rejected, work_on
from tasks.posting.hits import money

PER_PAGE = 50
COLUMNS = (
    "worker",
    "called",
    "stage",
    "reward",
    "handed_in",
    "active_minutes",
    "state",
    "simulated",
)
# What can be decided of several at once, by the list in which they stand.
AT_ONCE = {"submitted_empty": "pay", "waiting": "pay", "refused": "try_again"}
DECIDABLE = (ReceiptState.CONFIRMED, ReceiptState.REFUSED)


@collection_page
@require_safe
def assignments(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """List the assignments that fit the address, or hand the list out as CSV.

    Where it does not say what became of them, those are shown of which somebody waits.
    """
    people, sought = people_of(context.collection), WorkFilter.of(request.GET)
    fits = sought.condition(people)
    counts = counts_of(context.collection, fits)
    first = next((name for name, number in counts.items() if number), "waiting")
    wanted = request.GET.get("show", "")
    wanted = wanted if wanted in FILTERS else first
    rows = assignments_of(context.collection, wanted).filter(fits)
    rows = in_order(rows.select_related("posting__stage"), sought.sort)
    if asks_for_csv(request):
        lines = (line for part in read_in_parts(rows) for line in lines_of(part, people))
        cells = (_cells(context, line) for line in lines)
        return csv_of(f"{context.collection.slug}-{wanted}", COLUMNS, cells)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return context.render(
        request,
        "money/assignments.html",
        tab="money",
        wanted=wanted,
        filters=[
            (sought.address(name), name, words, counts[name]) for name, words in FILTERS.items()
        ],
        any=any(counts.values()) or sought != WorkFilter(),
        page=page,
        lines=lines_of(page, people),
        hours=context.parameters.pay.approve_after_hours,
        sought=sought,
        sort=sought.sort,
        sorts=[(name, words) for name, (words, _) in ORDERS.items()],
        stages=context.collection.stages.all(),
        address=sought.address(wanted),
        query=f"{sought.address(wanted)}&",
        at_once=AT_ONCE.get(wanted, ""),
        decidable=DECIDABLE,
    )


def _cells(context: CollectionContext, line: Line) -> list[object]:
    reward = money(line.session.posting.reward_cents, context.parameters.pay.minor_units)
    minutes = "" if line.minutes is None else round(line.minutes, 2)
    at = line.work.received_at.isoformat()
    simulated = "yes" if line.simulated else "no"
    found = [line.number, line.who, line.stage.name, reward, at, minutes]
    return [*found, line.work.state, simulated]


@collection_page
@require_POST
def decide_several(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Take one decision about every ticked assignment, and say of how many it could not be.

    Rejections are none of them: these are proposed and confirmed one by one, with the work on the
    screen.
    """
    decision = request.POST.get("decision", "")
    rows = Session.objects.filter(posting__stage__collection=context.collection)
    keys = [key for key in request.POST.getlist("work") if key.isascii() and key.isdigit()]
    works = [work_on(session) for session in rows.filter(pk__in=[key[:18] for key in keys])]
    by, now = name_of(request), timezone.now()
    decide_each(
        request,
        [work for work in works if work and decision in AT_ONCE.values()],
        lambda work: ACTS[decision](work, "", by, now),
        TOLD,
    )
    address = WorkFilter.of(request.GET).address(request.GET.get("show", ""))
    return redirect(f"{context.url('assignments')}?{address}")


@collection_page
@require_safe
def assignment(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Show what was handed in with one assignment, and what can be decided about its pay."""
    session = _session(context, key)
    people = people_of(context.collection)
    line = next(iter(lines_of([session], people)), None)
    if line is None:
        raise Http404
    submission = line.work if isinstance(line.work, Submission) else None
    rejections = list(session.rejections.prefetch_related("steps"))
    newest = rejections[0] if rejections else None
    now = timezone.now()
    return context.render(
        request,
        "money/assignment.html",
        tab="money",
        line=line,
        submission=submission,
        sheets=sheets_of(submission, context.collection.corpus) if submission else [],
        said=list(_said(submission.raw if submission else session.empty_submission.fields)),
        drafts=[] if submission else _drafts(session),
        can_be_rejected=can_be_rejected(line.work),
        rejection=newest,
        alone=newest is not None and newest.proposed_by == name_of(request),
        must_wait=newest is not None and now < newest.alone_from,
        can_be_taken_back=newest is not None and now < newest.take_back_until,
        history=[step for row in rejections for step in reversed(row.steps.all())],
        reward=session.posting.reward_cents,
        paid_at=_paid_at(context, submission),
        apart=paid_apart(line.work),
        longest=LONGEST_REASON,
        typed=request.session.pop(_typed(session), {}),
        seen=_seen(session),
        bonus=bonus_form(request, submission) if submission else None,
        bonuses=bonuses_of(submission) if submission else [],
    )


@collection_page
@require_POST
def decide_pay(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Record one decision about one assignment; a refused one keeps what was typed."""
    session = _session(context, key)
    work = work_on(session)
    act = ACTS.get(request.POST.get("decision", ""))
    words = request.POST.get("words", "")
    here = redirect(context.url("assignment", key=session.pk))
    if work is None:
        raise Http404
    if act is None:
        messages.error(request, "Choose what to do with one of the buttons.")
        return here
    try:
        check_seen(request.POST, _seen(session))
        sentence = act(work, words, name_of(request), timezone.now())
    except ActionError as error:
        request.session[_typed(session)] = {
            "words": words,
            "decision": request.POST["decision"],
        }
        messages.error(request, error.on_page)
    else:
        messages.success(request, sentence)
    return here


def _session(context: CollectionContext, key: int) -> Session:
    rows = Session.objects.filter(posting__stage__collection=context.collection)
    return get_object_or_404(rows.select_related("posting__stage"), pk=key)


def _seen(session: Session) -> str:
    """Return the version of the newest proposal, "" without one: what is confirmed was read."""
    newest = session.rejections.first()
    return version_of(newest.pk, newest.state) if newest else ""


def _typed(session: Session) -> str:
    return f"pay {session.pk}"


def _paid_at(context: CollectionContext, submission: Submission | None) -> Any:
    """Return when confirmed work is paid by itself."""
    if submission is None or submission.state != ReceiptState.CONFIRMED:
        return None
    wait = timedelta(hours=hours_of(submission.lease, context.parameters))
    return submission.confirmed_at + wait if submission.confirmed_at else None


def _said(data: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value of what a form said, with the way to it."""
    pairs: Any = ()
    if isinstance(data, dict):
        pairs = data.items()
    elif isinstance(data, list):
        pairs = enumerate(data, start=1)
    elif data not in (None, ""):
        yield name, str(data)
    for part, value in pairs:
        yield from _said(value, f"{name} {part}".strip().replace("_", " "))


def _drafts(session: Session) -> list[tuple[str, str]]:
    """Return what the worker had saved while they held the HIT."""
    return [
        pair
        for lease in session.leases.filter(draft__isnull=False)
        for pair in _said((lease.draft or {}).get("data"))
    ]
