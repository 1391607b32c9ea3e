"""The ledger, deciding about the pay of assignments, and bonuses."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import LONGEST_AMOUNT, number_of
from annotation.dashboard.lists import ListQuery, asks_for_csv, csv_of, decide_each, read_in_parts
from annotation.dashboard.money.assignments import (
    FILTERS,
    ORDERS,
    Line,
    assignments_of,
    condition_of,
    counts_of,
    decisions_of,
    in_order,
    lines_of,
)
from annotation.dashboard.money.spending import pace_of, spending_of
from annotation.dashboard.questions.reading import sheets_of
from annotation.dashboard.worker_names import People, people_of
from annotation.reports.attention import attention_to, refused_bonuses
from common.actions import ActionError
from common.money import amount_of, cents_of
from common.sent_form import check_seen, version_of
from tasks.costs import estimate, totals
from tasks.ledger import payments
from tasks.ledger.pay_terms import hours_of
from tasks.models import (
    ON_MARKETPLACE,
    Lease,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    ReceiptState,
    Session,
    Submission,
)
from tasks.paying import bonuses, decisions
from tasks.paying.compensation import compensate, share_cents
from tasks.paying.decisions import ACTS, TOLD, paid_apart
from tasks.paying.rejections import LONGEST_REASON, can_be_rejected, work_on
from tasks.work.kinds.registry import kind_of

PAYMENTS_PER_PAGE = 25
MAX_REASON = 500
_bonus = Q(kind=PaymentKind.BONUS)
# What is paid beside rewards, by who decided it.
BESIDE = {
    "all": ("All", ~Q(kind=PaymentKind.REWARD)),
    "given": ("Given by a person", _bonus & ~Q(by="") & ~Q(by=ON_MARKETPLACE)),
    "rules": ("Promised by a rule", _bonus & Q(by="")),
    "elsewhere": ("Paid on the marketplace", _bonus & Q(by=ON_MARKETPLACE)),
    "compensation": ("Compensation", Q(kind=PaymentKind.COMPENSATION)),
}
SHOWN = 100
# A job has yet to look at what was saved.
BY_ITSELF = Q(state=LeaseState.EXPIRED, compensated=False)
ASSIGNMENTS_PER_PAGE = 50
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
def ledger(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the budget, the ledger by stage, what is due for unfinished work, and every change."""
    people = people_of(context.collection)
    wanted = request.GET.get("show", "")
    wanted = wanted if wanted in BESIDE else "all"
    rows = Payment.objects.filter(BESIDE[wanted][1], collection=context.collection)
    rows = rows.select_related("stage", "lease__submission", "lease__session__empty_submission")
    rows = rows.order_by("-pk")
    page = Paginator(rows, PAYMENTS_PER_PAGE).get_page(request.GET.get("page"))
    submitted_empty = assignments_of(context.collection, "submitted_empty").order_by("pk")
    refused = refused_bonuses().filter(collection=context.collection)
    refused = refused.select_related("stage", "worker__identity").order_by("pk")
    revisions = context.collection.revisions.filter(key="budget_cents").order_by("-at", "-pk")
    return context.render(
        request,
        "money/ledger.html",
        tab="money",
        money=spending_of(
            context.collection, totals(context.collection, estimate(context.collection))
        ),
        ledger=_ledger(context),
        debts=debts_of(context, people),
        decisions=decisions_of(context, attention_to([context.collection])[context.collection.pk]),
        submitted_empty=lines_of(
            submitted_empty.select_related("posting__stage")[:PAYMENTS_PER_PAGE], people
        ),
        page=page,
        wanted=wanted,
        filters=[(name, words) for name, (words, _) in BESIDE.items()],
        beside=[(row, people.name(row.worker_id)) for row in page],
        refused=[(row, people.name(row.worker_id)) for row in refused[:PAYMENTS_PER_PAGE]],
        revisions=revisions[:PAYMENTS_PER_PAGE],
    )


@collection_page
@require_POST
def compensate_lease(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Pay for unfinished work that no job pays for, by a HIT that only its worker can take."""
    key = number_of(request.POST.get("lease", ""))
    lease = get_object_or_404(unfinished(context).exclude(BY_ITSELF), pk=key)
    debt = debt_of(context, lease, people_of(context.collection))
    cents = cents_of(request.POST.get("amount", ""), context.parameters.pay.minor_units)
    if not cents or cents > debt.most_cents:
        most = context.price(debt.most_cents)
        messages.error(request, f"Write an amount above zero, at most the HIT's reward of {most}.")
        return redirect(context.url("money") + "#unfinished")
    reason = request.POST.get("reason", "").strip()[:MAX_REASON] or "Work that was saved."
    payment = compensate(lease, cents, reason, timezone.now())
    if payment is None:
        amount = context.price(cents)
        messages.error(request, f"The budget cannot hold {amount}: raise it, then compensate.")
        return redirect(context.url("money") + "#unfinished")
    sentence = (
        f"{debt.who} is owed {context.price(payment.amount_cents)}: a HIT for them alone opens."
    )
    messages.success(request, sentence)
    return redirect(context.url("money"))


@collection_page
@require_POST
def decide_bonus(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Ask the marketplace again for a bonus it refused, pay it by a HIT, or let it go."""
    key = number_of(request.POST.get("bonus", ""))
    rows = Payment.objects.filter(collection=context.collection, kind=PaymentKind.BONUS)
    payment = get_object_or_404(rows, pk=key)
    if request.POST.get("how") == "apart":
        done = decisions.pay_bonus_apart(payment, timezone.now())
        sentence = "A HIT that only this worker can take opens within a minute."
    elif request.POST.get("how") == "drop":
        done = decisions.drop_bonus(payment)
        sentence = "Dropped: nothing is owed, and the budget has the money back."
    else:
        done = bool(decisions.ask_again(rows.filter(pk=key)))
        sentence = "The marketplace is asked again within a minute."
    if done:
        messages.success(request, sentence)
    else:
        messages.error(request, "It is refused no longer: this page shows how it stands.")
    return redirect(context.url("money"))


def _ledger(context: CollectionContext) -> list[dict[str, Any]]:
    """Return the payments of each stage: how many, and cents owed, refused, confirmed, in fees.

    `bonuses` is what of them is paid beside the rewards, in cents.
    """
    due, confirmed = Q(state=PaymentState.DUE), Q(state=PaymentState.CONFIRMED)
    refused = Q(state=PaymentState.REFUSED)
    rows = (
        Payment.objects.filter(collection=context.collection)
        .exclude(state=PaymentState.WITHHELD)
        .order_by()
        .values("stage_id")
        .annotate(
            payments=Count("pk"),
            owed=Sum("amount_cents", filter=due, default=0),
            refused=Sum("amount_cents", filter=refused, default=0),
            confirmed=Sum("amount_cents", filter=confirmed, default=0),
            fees=Sum("fee_cents"),
            bonuses=Sum("amount_cents", filter=_bonus, default=0),
            compensations=Count("pk", filter=Q(kind=PaymentKind.COMPENSATION)),
        )
    )
    sums = {row["stage_id"]: row for row in rows}
    return [
        {**sums[stage.pk], "stage": stage, "pace": pace_of(stage, context.parameters)}
        for stage in context.collection.stages.all()
        if stage.pk in sums
    ]


@dataclass(frozen=True)
class Debt:
    """`cents` is the reward's share by how much was saved; `most_cents` the whole reward."""

    lease: Lease
    who: str
    share_percent: int
    cents: int
    most_cents: int

    @property
    def by_itself(self) -> bool:
        """Return whether a job pays it: when it is expired for good and the budget holds it."""
        return self.lease.state == LeaseState.EXPIRED and not self.lease.compensated

    @property
    def late_until(self) -> datetime | None:
        """Return until when it can still be handed in, None once that is over."""
        until = self.lease.session.signed_until
        return until if until and until > timezone.now() else None


def unfinished(context: CollectionContext) -> QuerySet[Lease]:
    """Return the leases that ended with a draft and are not paid, nor the worker's other stays.

    What was given back is left out while a job has yet to pay for another stay at the same unit:
    a worker's saved work of a unit is paid once.
    """
    others = Lease.objects.filter(unit=OuterRef("unit"), worker=OuterRef("worker"))
    held = Q(state__in=[LeaseState.LIVE, LeaseState.SUBMITTED])
    return (
        Lease.objects.filter(
            unit__stage__collection=context.collection,
            state__in=[LeaseState.EXPIRED, LeaseState.RETURNED],
            draft__isnull=False,
        )
        .exclude(Exists(others.filter(held | Q(paid=True) | Q(submission__isnull=False))))
        .exclude(~BY_ITSELF, Exists(others.filter(BY_ITSELF)))
        .select_related("unit__stage", "session__posting")
        .order_by("-closed_at", "-pk")
        .annotate(n_items=Count("unit__items"))
    )


def debts_of(context: CollectionContext, people: People) -> list[Debt]:
    """Return the newest unfinished work with anything saved in it; one query."""
    found = [debt_of(context, lease, people) for lease in unfinished(context)[:SHOWN]]
    return [debt for debt in found if debt.cents]


def debt_of(context: CollectionContext, lease: Lease, people: People) -> Debt:
    """Return what is due for one lease."""
    stage = lease.unit.stage
    kind, table = kind_of(stage), context.parameters.stages()[stage.name]
    data = (lease.draft or {}).get("data")
    n_items: int = lease.n_items  # type: ignore[attr-defined]
    reward = lease.session.posting.reward_cents
    share = kind.share_done(data if isinstance(data, dict) else {}, table, n_items)
    return Debt(
        lease=lease,
        who=people.name(lease.worker_id),
        share_percent=round(share * 100),
        cents=share_cents(share, reward),
        most_cents=reward,
    )


@collection_page
@require_safe
def assignments(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """List the assignments that fit the address, or hand the list out as CSV.

    Where it does not say what became of them, those are shown of which somebody waits.
    """
    people, asked = people_of(context.collection), ListQuery(request.GET, ORDERS, FILTERS, "stage")
    fits = condition_of(asked, people)
    counts = counts_of(context.collection, fits)
    first = next((name for name, number in counts.items() if number), "waiting")
    wanted = asked.show = asked.show or first
    rows = assignments_of(context.collection, wanted).filter(fits)
    rows = in_order(rows.select_related("posting__stage"), asked.sort)
    if asks_for_csv(request):
        lines = (line for part in read_in_parts(rows) for line in lines_of(part, people))
        cells = (_cells(context, line) for line in lines)
        return csv_of(f"{context.collection.slug}-{wanted}", COLUMNS, cells)
    shown = asked.page(rows, ASSIGNMENTS_PER_PAGE)
    return context.render(
        request,
        "money/assignments.html",
        tab="money",
        wanted=wanted,
        filters=[
            (asked.address(show=name), name, words, counts[name]) for name, words in FILTERS.items()
        ],
        any=any(counts.values()) or asked.is_narrowed or bool(asked.sort),
        lines=lines_of(shown["page"], people),
        hours=context.parameters.pay.approve_after_hours,
        stages=context.collection.stages.all(),
        at_once=AT_ONCE.get(wanted, ""),
        decidable=DECIDABLE,
        **shown,
    )


def _cells(context: CollectionContext, line: Line) -> list[object]:
    reward = amount_of(line.session.posting.reward_cents, context.parameters.pay.minor_units)
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
    address = ListQuery(request.GET, ORDERS, FILTERS, "stage").address()
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
        drafts=[
            pair
            for lease in session.leases.filter(draft__isnull=False)
            for pair in _said((lease.draft or {}).get("data"))
        ]
        if not submission
        else [],
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


def bonus_form(request: HttpRequest, submission: Submission) -> dict[str, str]:
    """Return the form for one assignment: sent twice it gives once, refused it keeps its text."""
    typed = request.session.pop(_typed_bonus(submission), {})
    return {"once": str(uuid4()), "amount": "", "reason": "", **typed}


def bonuses_of(submission: Submission) -> list[Payment]:
    """Return every bonus for the assignment, the newest first."""
    rows = Payment.objects.filter(kind=PaymentKind.BONUS, lease=submission.lease_id)
    return list(rows.order_by("-pk"))


@collection_page
@require_POST
def give_bonus(request: HttpRequest, context: CollectionContext, key: int) -> HttpResponse:
    """Give a bonus for what was handed in with one assignment."""
    rows = Submission.objects.filter(lease__unit__stage__collection=context.collection)
    rows = rows.select_related("lease__unit__stage__collection", "lease__worker__identity")
    # Django knows of a key of its own, not of a reference, that no column takes thirty digits.
    session = Session.objects.filter(pk=key)
    submission = rows.filter(lease__session__in=session).order_by("counts", "pk").last()
    if submission is None:
        raise Http404
    amount, reason = request.POST.get("amount", ""), request.POST.get("reason", "")
    cents = cents_of(amount, context.parameters.pay.minor_units)
    try:
        once = UUID(request.POST.get("once", ""))
        payment = payments.give_bonus(
            submission.lease, cents or 0, reason, name_of(request), once, timezone.now()
        )
    except (ActionError, ValueError) as error:
        given = {"amount": amount[:LONGEST_AMOUNT], "reason": reason[: payments.MOST_WORDS + 100]}
        request.session[_typed_bonus(submission)] = given
        is_ours = isinstance(error, ActionError)
        messages.error(request, str(error) if is_ours else "Send it with the button on this page.")
    else:
        price = context.price(payment.amount_cents)
        messages.success(request, f"A bonus of {price} is given. The marketplace is told next.")
    return redirect(context.url("assignment", key=key) + "#bonus")


@collection_page
@require_POST
def find_bonuses(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Have every HIT asked about now for bonuses that were not paid from here."""
    hits = bonuses.ask_anew(context.collection, timezone.now())
    counted = f"{hits:,} HIT" if hits == 1 else f"{hits:,} HITs"
    messages.success(
        request,
        f"The marketplace is asked about {counted} in the next minutes. What it lists is entered.",
    )
    return redirect(context.url("money") + "#beside")


def _typed_bonus(submission: Submission) -> str:
    return f"bonus {submission.pk}"
