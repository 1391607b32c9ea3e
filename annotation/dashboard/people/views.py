"""Pages about people: who may work on a collection, its list of workers, and one worker."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from operator import itemgetter
from statistics import median
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import marketplace_problem, number_of, refusals_shown
from annotation.dashboard.lists import ListQuery, asks_for_csv, csv_of
from annotation.dashboard.money.assignments import lines_of
from annotation.dashboard.worker_names import is_called, people_of
from annotation.decisions.by_hand import exclude_worker, include_again
from annotation.decisions.counted_work import excluded_workers
from annotation.decisions.verdicts import voting_stages
from annotation.models import Exclusion, Verdict
from collector.models import CollectionState
from collector.protocols.creation import newest, revise
from common.actions import ActionError
from common.money import amount_of
from common.sent_form import version_of
from tasks.crowd.requester_api import MarketplaceError
from tasks.models import (
    Answer,
    GrantState,
    Payment,
    PaymentState,
    Question,
    ReceiptState,
    Session,
    Submission,
    Worker,
)
from tasks.people import trusted
from tasks.people.audience import audience_of
from tasks.people.qualifications import trusted_grants
from tasks.people.trusted import LONGEST_NAME, is_known, name_people, name_worker
from tasks.work.kinds.hit_words import title_of

FIRST = "Chosen before the first publication."
WORKERS_PER_PAGE = 50
TYPED = "names of people"
SUBMISSIONS_PER_PAGE = 25


@collection_page
@require_safe
def people(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show who may see the HITs, the groups to choose from, and who was admitted by whom."""
    return _drawn(request, context)


@collection_page
@require_POST
def choose_groups(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Limit later HITs to the ticked groups; a refused choice stays ticked."""
    chosen = request.POST.getlist("group")
    why, seen = request.POST.get("why", "").strip(), request.POST.get("seen", "")
    is_draft = context.collection.state == CollectionState.DRAFT
    try:
        trusted.check_groups(chosen)
        revise(
            context.collection,
            {"people.groups": chosen},
            why=why or (FIRST if is_draft else ""),
            by=name_of(request),
            now=timezone.now(),
            seen=number_of(seen, otherwise=-1),
        )
    except ActionError as error:
        return _drawn(request, context, 400, groups_problem=error.on_page, ticked=chosen, why=why)
    except MarketplaceError as error:
        told = marketplace_problem(error, "save again")
        return _drawn(request, context, 400, groups_problem=told, ticked=chosen, why=why)
    named = " and ".join(chosen)
    messages.success(
        request,
        f"What is posted from now on is for members of {named} alone."
        if chosen
        else "What is posted from now on is for everybody.",
    )
    return redirect(context.url("people"))


@collection_page
@require_POST
def let_people_in(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Admit the people of a list or a group without a test; on an error the form keeps its text."""
    who = request.POST.get("who", "")
    group, stage = request.POST.get("of", ""), request.POST.get("stage", "")
    names = re.split(r"[\s,;]+", who)
    try:
        stages = trusted.qualifying(context.collection, stage)
        found = trusted.people_named(names, [group] if group else [])
        if not found:
            raise ActionError("Name somebody, or choose a group.")
        new = trusted.let_in(context.collection, stages, found, name_of(request), timezone.now())
    except ActionError as error:
        told = error.on_page
    except MarketplaceError as error:
        told = marketplace_problem(error, "let them in again")
    else:
        already = len(found) - new
        sentence = f"{new} let in without a test." if new else "Nobody new."
        sentence += f" {already} had it already." if already else ""
        messages.success(request, sentence)
        return redirect(context.url("people"))
    return _drawn(request, context, 400, let_in_problem=told, who=who, of=group, stage=stage)


@collection_page
@require_POST
def take_back(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Take one admission back for one test; its people may then take the test like others."""
    at = _moment(request.POST.get("at", ""))
    of = {
        "qualification__stage__name": request.POST.get("stage", ""),
        "decided_by": request.POST.get("by", ""),
    }
    if at is None:
        messages.error(request, "Choose whom to take it back from in the list.")
        return redirect(context.url("people"))
    grants = trusted_grants(context.collection)
    grants = grants.filter(**of, state=GrantState.GRANTED, decided_at=at)
    done = trusted.take_back(context.collection, grants, name_of(request), timezone.now())
    messages.success(request, f"Taken back from {done}. What they hold they may finish.")
    return redirect(context.url("people"))


def _moment(text: str) -> datetime | None:
    """Return the time in a field of this page's forms; None if it is no time with a zone."""
    try:
        at = parse_datetime(text)
    except ValueError:
        return None
    return at if at and at.tzinfo else None


def _drawn(
    request: HttpRequest, context: CollectionContext, status: int = 200, **more: object
) -> HttpResponse:
    audience = audience_of(context.collection)
    tables = context.parameters.stages()
    rows = trusted_grants(context.collection).order_by("-decided_at")
    acts = rows.values("decided_by", "decided_at", "state", "qualification__stage__name")
    shown: dict[str, object] = {
        "audience": audience,
        "seen": newest(context.collection),
        "ticked": audience.groups,
        "choices": sorted({*audience.known, *audience.groups}),
        "is_draft": context.collection.state == CollectionState.DRAFT,
        "tests": [(name, title_of(table)) for name, table in tables.items() if table.qualifies],
        "acts": [
            {**act, "test": title_of(tables[act["qualification__stage__name"]])}
            for act in acts.annotate(n=Count("pk"))
        ],
        **more,
    }
    return context.render(request, "people/people.html", status=status, tab="people", **shown)


# The figures of one worker in a collection, by the names in lines_of_workers.
WorkerLine = dict[str, Any]


def _least_first(name: str) -> Callable[[WorkerLine], Any]:
    """Return the sort key for a figure, lowest first; workers without the figure come last."""

    def key(line: WorkerLine) -> tuple[bool, float]:
        figure = line[name]
        return figure is None, figure or 0

    return key


# Each order has a label and a sort key. Workers are numbered in the order they came.
ORDERS: dict[str, tuple[str, Callable[[WorkerLine], Any]]] = {
    "": ("when they came", itemgetter("number")),
    "name": ("name", lambda line: line["who"].casefold()),
    "work": ("HITs, most first", lambda line: -line["handed_in"]),
    "kept": ("questions kept, fewest first", _least_first("kept_share")),
    "agreement": ("agreement, least first", _least_first("agreeing_share")),
    "time": ("time, shortest first", _least_first("minutes")),
    "pay": ("pay, most first", lambda line: -line["paid_cents"]),
}
FILTERS: dict[str, tuple[str, Callable[[WorkerLine], bool]]] = {
    "": ("All", lambda _: True),
    "counted": ("Work counts", lambda line: not (line["excluded"] or line["withdrawn"])),
    "excluded": ("Excluded", itemgetter("excluded")),
    "rejected": ("With rejected work", lambda line: line["rejected"] > 0),
}
LINE_COLUMNS = (
    "number",
    "who",
    "handed_in",
    "rejected",
    "questions",
    "kept_share",
    "answers",
    "agreeing_share",
    "minutes",
)
FLAGS = ("excluded", "withdrawn", "simulated")
COLUMNS = (
    "worker",
    "called",
    "hits_handed_in",
    "hits_rejected",
    "questions",
    "kept_share",
    "answers",
    "agreeing_share",
    "median_minutes",
    "paid",
    "excluded",
    "withdrawn",
    "simulated",
)


@collection_page
@require_safe
def workers(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """List the workers that match the filters in the address, as a page or as CSV."""
    found = lines_of_workers(context)
    asked = ListQuery(request.GET, ORDERS, FILTERS)
    lines = [line for line in found if is_called(line["who"], asked.sought)]
    counts = [(name, words, sum(map(fits, lines))) for name, (words, fits) in FILTERS.items()]
    lines = sorted(filter(FILTERS[asked.show][1], lines), key=ORDERS[asked.sort][1])
    if asks_for_csv(request):
        rows = (_cells(context, line) for line in lines)
        return csv_of(f"{context.collection.slug}-workers", COLUMNS, rows)
    return context.render(
        request,
        "people/workers.html",
        tab="people",
        any=bool(found),
        filters=[(asked.address(show=name), name, words, n) for name, words, n in counts],
        **asked.page(lines, WORKERS_PER_PAGE),
        typed=request.session.pop(TYPED, ""),
    )


@collection_page
@require_POST
def name_workers(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Store names for the requester's own people; a refused list stays in its field."""
    typed = request.POST.get("names", "")
    try:
        n = name_people(typed.splitlines(), timezone.now())
    except ActionError as error:
        told = error.on_page
    except MarketplaceError as error:
        told = marketplace_problem(error, "save the names again")
    else:
        messages.success(request, f"{n} name{'s' if n != 1 else ''} noted.")
        return redirect(context.url("workers"))
    request.session[TYPED] = typed
    messages.error(request, told)
    return redirect(context.url("workers"))


def _cells(context: CollectionContext, line: WorkerLine) -> list[object]:
    return [
        *(line[name] for name in LINE_COLUMNS),
        amount_of(line["paid_cents"], context.parameters.pay.minor_units),
        *("yes" if line[name] else "no" for name in FLAGS),
    ]


def lines_of_workers(context: CollectionContext, one: str = "") -> list[WorkerLine]:
    """Return a line for each worker who took work, or for `one` alone; always eight queries.

    `kept_share`: the share of their decided questions that were kept. `agreeing_share`: of their
    answers to kept questions that others answered too, the share with which another answer agrees.
    `minutes`: the median active time of a HIT. Each is None if there is nothing to compute it from.
    `paid_cents`: what is paid or owed, with bonuses, without fees.
    """
    collection = context.collection
    people, out = people_of(collection), excluded_workers(collection)
    rows = Worker.objects.filter(leases__unit__stage__collection=collection)
    known = {worker.pk: worker for worker in rows.filter(_only(one, "pk")).distinct()}
    seconds: dict[str, list[int]] = defaultdict(list)
    handed_in, rejected = Counter[str](), Counter[str]()
    work = Submission.objects.filter(lease__unit__stage__collection=collection)
    for worker, state, active, synthetic in work.filter(_only(one, "lease__worker")).values_list(
        "lease__worker_id", "state", "active_seconds", "synthetic"
    ):
        handed_in[worker] += 1
        rejected[worker] += state == ReceiptState.REJECTED
        if active and not synthetic:
            seconds[worker].append(active)
    questions = {
        row["worker"]: row
        for row in Question.objects.filter(
            _only(one),
            stage__collection=collection,
            stage__name__in=voting_stages(context.parameters),
        )
        .order_by()
        .values("worker")
        .annotate(
            n=Count("pk"),
            kept=Count("pk", filter=Q(verdict__outcome="kept")),
            decided=Count("pk", filter=Q(verdict__outcome__in=["kept", "dropped"])),
        )
    }
    answers, compared, agreeing = _votes(context, one)
    paid = Payment.objects.filter(
        _only(one), collection=collection, state__in=[PaymentState.DUE, PaymentState.CONFIRMED]
    )
    cents = dict(paid.order_by().values_list("worker").annotate(cents=Sum("amount_cents")))
    nothing = {"n": 0, "kept": 0, "decided": 0}
    found = []
    for worker, number in people.numbers.items():
        if worker not in known:
            continue
        wrote, row = questions.get(worker, nothing), known[worker]
        counts = worker not in out and row.withdrawn_at is None
        found.append(
            {
                "number": number,
                "who": people.name(worker),
                "handed_in": handed_in[worker],
                "rejected": rejected[worker],
                "questions": wrote["n"],
                # Withdrawn work keeps its verdicts, so they are not counted here.
                "kept": wrote["kept"] if counts else 0,
                "kept_share": _share(wrote["kept"], wrote["decided"]) if counts else None,
                "answers": answers[worker],
                "agreeing_share": _share(agreeing[worker], compared[worker]) if counts else None,
                "minutes": round(median(seconds[worker]) / 60, 2) if seconds[worker] else None,
                "paid_cents": cents.get(worker, 0),
                "excluded": worker in out,
                "withdrawn": row.withdrawn_at is not None,
                "simulated": row.synthetic,
            }
        )
    return found


def _only(one: str, at: str = "worker") -> Q:
    """Return the condition that the field `at` names the worker `one`; no condition for ""."""
    return Q(**{at: one}) if one else Q()


def _votes(context: CollectionContext, one: str) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return the numbers of answers, of comparable and of agreeing answers, each by worker."""
    kept = Verdict.objects.filter(
        question__stage__collection=context.collection, outcome="kept", n_votes__gt=1
    )
    kept = kept.filter(_only(one, "question__answers__worker"))
    of_question = dict(kept.values_list("question_id", "agreeing"))
    stages = {name for names in voting_stages(context.parameters).values() for name in names}
    rows = Answer.objects.filter(
        _only(one),
        stage__collection=context.collection,
        stage__name__in=stages,
        corrected_by="",
    )
    answers, compared, agreeing = Counter[str](), Counter[str](), Counter[str]()
    for worker, answer, question in rows.values_list("worker_id", "pk", "question_id"):
        answers[worker] += 1
        alike = of_question.get(question)
        if alike is not None:
            compared[worker] += 1
            # An answer that agrees with itself alone agrees with no other.
            agreeing[worker] += answer in alike and len(alike) > 1
    return answers, compared, agreeing


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


@collection_page
@require_safe
def worker(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Show what a worker handed in, and whether their work is excluded."""
    people = people_of(context.collection)
    row = _worker(context, number)
    sessions = Session.objects.filter(worker=row, posting__stage__collection=context.collection)
    handed_in = Q(leases__submission__isnull=False) | Q(empty_submission__isnull=False)
    sessions = sessions.filter(handed_in).distinct().select_related("posting__stage")
    page = Paginator(sessions.order_by("-pk"), SUBMISSIONS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    acts = list(_acts(context, row))
    return context.render(
        request,
        "people/worker.html",
        tab="people",
        number=number,
        who=people.name(row.pk),
        given=people.given.get(row.pk, ""),
        can_be_named=is_known(row),
        row=row,
        made=lines_of_workers(context, row.pk)[0],
        page=page,
        lines=lines_of(page, people),
        acts=acts,
        seen=_seen(acts),
        left_out=bool(acts) and acts[0].back_at is None,
        longest_name=LONGEST_NAME,
        typed=request.session.pop(_typed(context, number), ""),
    )


@collection_page
@require_POST
def leave_out_worker(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Exclude all work of a worker, or include it again; on an error the form keeps its text."""
    row, why = _worker(context, number), request.POST.get("why", "")
    by, now = name_of(request), timezone.now()
    try:
        with context.unchanged(request, lambda: _seen(_acts(context, row))):
            if request.POST.get("act") == "back":
                newest = _acts(context, row).first()
                if newest is None:
                    raise ActionError("Nothing by this worker is excluded.")
                include_again(newest, why, by, now)
                sentence = "Taken back: their work counts again, and every verdict follows it."
            else:
                exclude_worker(context.collection, row, why, by, now)
                sentence = (
                    "Excluded. Verdicts follow the votes that are left, and what is missing then "
                    "is asked for again; nobody's pay changes."
                )
    except ActionError as error:
        request.session[_typed(context, number)] = why
        messages.error(request, error.on_page)
    else:
        messages.success(request, sentence)
    return redirect(context.url("worker", number=number))


@collection_page
@require_POST
def name_one(request: HttpRequest, context: CollectionContext, number: int) -> HttpResponse:
    """Store the requester's name for the worker; a blank name deletes it."""
    with refusals_shown(request):
        name_worker(_worker(context, number), request.POST.get("name", ""))
        messages.success(request, "Saved. It is shown on these pages alone.")
    return redirect(context.url("worker", number=number))


def _worker(context: CollectionContext, number: int) -> Worker:
    found = people_of(context.collection).worker(number)
    if found is None:
        raise Http404
    return Worker.objects.get(pk=found)


def _acts(context: CollectionContext, row: Worker) -> QuerySet[Exclusion]:
    """Return all exclusions of the worker's work, the newest first."""
    return Exclusion.objects.filter(collection=context.collection, worker=row)


def _seen(acts: Iterable[Exclusion]) -> str:
    return version_of([(one.pk, one.back_at) for one in acts])


def _typed(context: CollectionContext, number: int) -> str:
    return f"leave out {context.collection.pk} {number}"
