"""A requester's batches and HITs: published, looked at, decided, rewarded; and their events."""

import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core import signing
from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from common.long_bodies import long_bodies_from
from common.sent_form import OutOfDateError, check_seen, version_of
from common.spreadsheet import UploadError
from marketplace import clock
from marketplace.amounts import amount_of, price_of, typed_cents
from marketplace.desk.batches import (
    BatchError,
    begin,
    call_of,
    carry_out,
    cost_cents,
    decide,
    kind_of,
    page_of_row,
    publish_some,
    results,
    stop,
    unmapped,
)
from marketplace.hits.access import audience_summaries, audience_summary
from marketplace.hits.lifecycle import settle_account, settle_due
from marketplace.models import (
    HIT,
    Assignment,
    AssignmentState,
    Batch,
    HITType,
    IdempotencyToken,
    QualificationType,
    Requester,
)
from marketplace.notifications.events import events_of, send_again
from marketplace.operations.hits import MOST_CENTS
from marketplace.operations.workers import rewardable
from marketplace.people.requirements import any_of
from marketplace.questions.answers import answers_in
from marketplace.questions.template import template_of, variables, warnings
from marketplace.router import atomic
from marketplace.web.desk_pages import (
    DeskRequest,
    csv_file,
    knows,
    leave_notice,
    page_of,
    record,
    requester_page,
    show,
    text_from,
)
from marketplace.web.pages import first_or_error, framed, harden
from marketplace.wire.calls import Call, WireError

NO_BATCH = "There is no such batch of yours. Choose a project from the list."
PUBLISH_FIRST = "This batch is not published yet, so there is nothing to do it with."


def own_batch(request: DeskRequest, key: int) -> Batch:
    """Return the requester's own batch; raises PageError for any other."""
    rows = Batch.objects.select_related("project__requester")
    return first_or_error(rows.filter(pk=key, project__requester=request.requester), NO_BATCH)


@requester_page
def batch(request: DeskRequest, key: int) -> HttpResponse:
    """Show a batch: before publication its rows, columns and cost, after it how far it is."""
    found = own_batch(request, key)
    if request.method != "POST" or found.published_at is not None:
        return _drawn(request, found)
    try:
        with atomic():
            row = Batch.objects.select_for_update().get(pk=found.pk)
            check_seen(request.POST, _columns_seen(row))
            for name in variables(template_of(row.terms)):
                column = request.POST.get(f"column-{name}", "")
                if column in row.columns:
                    row.mapping[name] = column
                else:
                    row.mapping.pop(name, None)
            row.save(update_fields=["mapping"])
    except OutOfDateError as error:
        return _drawn(request, own_batch(request, key), 400, problem=str(error))
    leave_notice(request, "The columns are kept. Look at the rows below.")
    return redirect("desk-batch", key=key)


def _columns_seen(found: Batch) -> str:
    return version_of(found.mapping, template_of(found.terms), found.published_at)


def _drawn(
    request: DeskRequest, found: Batch, status: int = 200, **context: object
) -> HttpResponse:
    template = "batch_draft.html" if found.published_at is None else "batch.html"
    facts = _draft(request, found) if found.published_at is None else _progress(found)
    values: dict[str, object] = {"batch": found, "project": found.project, **facts, **context}
    values["reach"] = audience_summary(kind_of(found.project, found.terms))
    response = show(request, template, status, here="projects", **values)  # type: ignore[arg-type]
    return harden(response, frame_src="'self'")


def _draft(request: DeskRequest, found: Batch) -> dict[str, object]:
    html = template_of(found.terms)
    n_rows = found.rows.count()
    asked = request.GET.get("row", "1")
    row = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else 1
    row = min(max(row, 1), n_rows)
    return {
        "columns": [(name, found.mapping.get(name, "")) for name in variables(html)],
        "seen": _columns_seen(found),
        "unmapped": unmapped(found),
        "warnings": warnings(html),
        "n_rows": n_rows,
        "row": found.rows.get(position=row),
        "cost_cents": cost_cents(found),
        "n_assignments": n_rows * found.terms["max_assignments"],
    }


def _progress(found: Batch) -> dict[str, object]:
    settle_due(clock.now(), batch_row__batch=found)
    mine = Assignment.objects.filter(hit__batch_row__batch=found)
    states = {state.value: Count("pk", filter=Q(state=state)) for state in AssignmentState}
    counts = mine.aggregate(**states)
    n_rows, n_made = found.rows.count(), found.rows.exclude(hit=None).count()
    n_in = (
        counts[AssignmentState.SUBMITTED]
        + counts[AssignmentState.APPROVED]
        + counts[AssignmentState.REJECTED]
    )
    code = found.terms.get("completion_code", "")
    return {
        "n_rows": n_rows,
        "n_made": n_made,
        "n_left": n_rows - n_made,
        "counts": counts,
        "n_in": n_in,
        "n_places": n_rows * found.terms["max_assignments"],
        "n_open": found.rows.filter(
            hit__expires_at__gt=clock.now(), hit__n_open__gt=0, hit__disposed_at=None
        ).count(),
        "n_right": len(_with_code(found)) if code else None,
    }


def _with_code(found: Batch) -> list[str]:
    """Return the undecided assignments whose completion code is the survey's."""
    code = str(found.terms["completion_code"]).strip().casefold()
    rows = Assignment.objects.filter(hit__batch_row__batch=found, state=AssignmentState.SUBMITTED)
    return [
        row.assignment_id
        for row in rows
        if answers_in(row.answer).get("surveycode", "").strip().casefold() == code
    ]


@requester_page
@require_POST
def publish(request: DeskRequest, key: int) -> HttpResponse:
    """Publish the batch, a few seconds' worth at a time; pressed again it goes on."""
    found = own_batch(request, key)
    was_draft = found.published_at is None
    seen = request.POST.get("cost", "")
    seen_cents = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else None
    try:
        begin(found, clock.now(), seen_cents)
        n_left = publish_some(found, call_of(request, request.requester))
    except (BatchError, WireError) as error:
        found.refresh_from_db()
        sentence = error.message if isinstance(error, WireError) else str(error)
        return _drawn(request, found, 400, problem=sentence)
    if was_draft:
        record(request, f"Published {found.name} of the project {found.project.name}")
    if not n_left:
        leave_notice(request, "All rows are published. Workers see them now.")
    return redirect(reverse("desk-batch", kwargs={"key": key}) + ("?go-on" if n_left else ""))


@requester_page
@require_POST
def stop_batch(request: DeskRequest, key: int) -> HttpResponse:
    """End the batch's open HITs; workers who hold one may finish."""
    found = own_batch(request, key)
    n_stopped = stop(found, call_of(request, request.requester))
    if n_stopped:
        record(request, f"Stopped {n_stopped} HITs of {found.name}")
    leave_notice(request, "Nobody new can start. Workers who are at it may finish.")
    return redirect("desk-batch", key=key)


@requester_page
@require_safe
def results_file(request: DeskRequest, key: int) -> HttpResponse:
    """Return the answers as CSV, with the columns of MTurk's batch results."""
    found = own_batch(request, key)
    settle_due(clock.now(), batch_row__batch=found)
    header, lines = results(found, clock.now())
    return csv_file(f"Batch_{found.pk}_batch_results.csv", header, lines)


@long_bodies_from(knows)
@requester_page
@require_POST
def decisions(request: DeskRequest, key: int) -> HttpResponse:
    """Show what the uploaded Approve and Reject columns would do, then do it when confirmed."""
    found = own_batch(request, key)
    if found.published_at is None:
        return _drawn(request, found, 400, problem=PUBLISH_FIRST)
    is_dry = "apply" not in request.POST
    try:
        made = decide(call_of(request, request.requester), text_from(request), is_dry=is_dry)
    except UploadError as error:
        return _drawn(request, found, 400, problem=str(error))
    if not is_dry and made.n_to_do:
        done = f"{made.n_approved + made.n_overridden} approved, {made.n_rejected} rejected"
        record(request, f"Decided on {found.name}: {done}")
    return _drawn(request, found, decided=made, is_dry=is_dry)


@requester_page
@require_POST
def approve_codes(request: DeskRequest, key: int) -> HttpResponse:
    """Approve the work that came with the survey's own completion code."""
    found = own_batch(request, key)
    if not found.terms.get("completion_code") or found.published_at is None:
        return _drawn(request, found, 400, problem=PUBLISH_FIRST)
    lines = [f"{one},x," for one in _with_code(found)]
    text = "\n".join(["AssignmentId,Approve,Reject", *lines])
    made = decide(call_of(request, request.requester), text, is_dry=False)
    if made.n_approved:
        record(request, f"Approved {made.n_approved} with the right code in {found.name}")
    leave_notice(request, f"{made.n_approved} approved.")
    return redirect("desk-batch", key=key)


@requester_page
@require_safe
def row_page(request: DeskRequest, key: int, position: int) -> HttpResponse:
    """Return the page of one row, just as in the worker's frame; it submits nowhere."""
    found = own_batch(request, key)
    row = first_or_error(found.rows.filter(position=position), NO_BATCH)
    return framed(page_of_row(found, row))


LINK = re.compile(r"https?://[^\s<>\"']{1,240}")


@dataclass(frozen=True)
class Origin:
    """The name of what HITs are part of, and the address of its page, "" where none was given."""

    name: str
    url: str


def page_in(annotation: str) -> str:
    """Return the address that a HIT's annotation holds, "" for none."""
    found = LINK.search(annotation)
    return found[0] if found and urlsplit(found[0]).hostname else ""


def origin_of(hit: HIT) -> Origin | None:
    """Return what a HIT is part of; None where its requester states nothing."""
    name, url = hit.hit_type.stated.part_of, page_in(hit.annotation)
    return Origin(name or url, url) if name or url else None


def kinds_by_origin(requester: Requester) -> dict[str, list[int]]:
    """Return the keys of the requester's HIT types by the name of what they are part of."""
    found: dict[str, list[int]] = {}
    rows = HITType.objects.filter(requester=requester, keywords__contains="part-of:")
    for kind in rows.only("keywords"):
        found.setdefault(kind.stated.part_of, []).append(kind.pk)
    return dict(sorted(found.items()))


def users_of(
    types: Iterable[QualificationType], requester: Requester | None = None
) -> dict[int, list[Origin]]:
    """Return what asks for each qualification type, or earns it, by the type's key.

    requester: whose HITs are looked at; None for everybody's.
    """
    kinds = HITType.objects.all() if requester is None else requester.hit_types.all()
    named: dict[str, dict[str, int]] = {}
    for kind in kinds.only("requirements", "keywords", "title").order_by("pk"):
        ids = {need["QualificationTypeId"] for need in kind.requirements} | set(kind.stated.earns)
        for type_id in ids | {other for one in ids for other in any_of(one)}:
            named.setdefault(type_id, {})[kind.stated.part_of or kind.title] = kind.pk
    return {
        row.pk: [
            Origin(name, _page_of(kind))
            for name, kind in sorted(named.get(row.qualification_type_id, {}).items())
        ]
        for row in types
    }


def _page_of(kind: int) -> str:
    hits = HIT.objects.filter(hit_type=kind).order_by("-pk").values_list("annotation", flat=True)
    return page_in(hits.first() or "")


# The API's words, for people who do not know the API.
STATUS_WORDS = {
    "Assignable": "Open",
    "Unassignable": "All places taken",
    "Reviewable": "To review",
    "Reviewing": "Under review",
    "Disposed": "Deleted",
}
NO_HIT = "There is no such HIT of yours. Choose one from the list."


@requester_page
@require_safe
def hits(request: DeskRequest) -> HttpResponse:
    """Show the HITs that belong to no batch, the newest first, or those part of one thing."""
    now = clock.now()
    settle_account(request.requester, now)
    rows = HIT.objects.filter(requester=request.requester, batch_row=None)
    parts, of = kinds_by_origin(request.requester), request.GET.get("of", "")
    if of in parts:
        rows = rows.filter(hit_type__in=parts[of])
    page = page_of(request, rows.select_related("hit_type").order_by("-pk"))
    kinds = {hit.hit_type_id: hit.hit_type for hit in page}
    reaches = dict(zip(kinds, audience_summaries(kinds.values()), strict=True))
    lines = [(hit, _state_of(hit, now), reaches[hit.hit_type_id]) for hit in page]
    origin = origin_of(lines[0][0]) if of in parts and lines else None
    return show(
        request,
        "hits.html",
        here="hits",
        page=page,
        lines=lines,
        parts=list(parts),
        of=of if of in parts else "",
        origin=origin,
    )


def _state_of(hit: HIT, now: datetime) -> str:
    """Return what became of a HIT, in words; none is left to review whose work is decided."""
    status = hit.status(now)
    return "Over" if status == "Reviewable" and not hit.n_awaiting else STATUS_WORDS[status]


@requester_page
@require_safe
def hit(request: DeskRequest, key: int) -> HttpResponse:
    """Show one HIT of the requester's, whether a program or the desk posted it."""
    now = clock.now()
    mine = HIT.objects.filter(requester=request.requester, pk=key)
    settle_due(now, pk=key, requester=request.requester)
    found = first_or_error(mine.select_related("hit_type", "batch_row__batch"), NO_HIT)
    row = getattr(found, "batch_row", None)
    return show(
        request,
        "hit.html",
        here="projects" if row else "hits",
        hit=found,
        api_word=found.status(now),
        status_word=_state_of(found, now),
        batch=row.batch if row else None,
        origin=origin_of(found),
        reach=audience_summary(found.hit_type),
        has_work=rewardable(Assignment.objects.filter(hit=found), now).exists(),
    )


@requester_page
@require_safe
def hit_by_id(request: DeskRequest, hit_id: str) -> HttpResponse:
    """Go to the HIT of the requester's that programs know by this id."""
    found = first_or_error(HIT.objects.filter(requester=request.requester, hit_id=hit_id), NO_HIT)
    return redirect("desk-hit", key=found.pk)


@requester_page
@require_safe
def events(request: DeskRequest) -> HttpResponse:
    """Show the requester's events, the newest first, with what became of each."""
    page = page_of(request, events_of(request.requester))
    return show(request, "events.html", here="hits", page=page)


@requester_page
@require_POST
def resend_event(request: DeskRequest, key: int) -> HttpResponse:
    """Send an event once more, whatever became of it before."""
    event = first_or_error(
        events_of(request.requester).filter(pk=key),
        "There is no such event of yours. Choose one from the list.",
    )
    send_again(event, clock.now())
    record(request, f"Sent the event {event.document_id} again")
    leave_notice(request, f"{event.content['EventType']} is on its way to {event.destination}.")
    return redirect("desk-events")


# Tokens keep a bonus from being sent again for a day, so an order does not live that long.
GOOD_FOR = timedelta(hours=12)
# One transaction, and a second or two.
MOST_AT_ONCE = 300
SALT = "marketplace.bonuses"


class BonusOrderError(ValueError):
    """The bonuses cannot be sent like this; the message says what to do."""


@dataclass(frozen=True)
class BonusOrder:
    """Bonuses as their sender saw them: the same amount and reason for each of `work`."""

    requester: int
    # Keys of assignments.
    work: tuple[int, ...]
    cents: int
    reason: str
    made_at: float
    once: str

    @property
    def total_cents(self) -> int:
        """Return what they come to."""
        return self.cents * len(self.work)

    def signed(self) -> str:
        """Return it as text that a page carries and nobody can change."""
        return signing.dumps(vars(self), salt=SALT, compress=True)


def order_signed(text: str, requester: Requester, now: datetime) -> BonusOrder:
    """Return the order that a page carried; BonusOrderError if not theirs, or too old."""
    try:
        values = signing.loads(text, salt=SALT)
    except signing.BadSignature:
        raise BonusOrderError("This page was changed on its way. Choose the work again.") from None
    order = BonusOrder(**values | {"work": tuple(values["work"])})
    is_old = now.timestamp() - order.made_at > GOOD_FOR.total_seconds()
    if order.requester != requester.pk or is_old:
        raise BonusOrderError("This page is too old to send from. Choose the work again.")
    return order


def make_order(
    requester: Requester,
    work: Iterable[Assignment],
    cents: int,
    reason: str,
    now: datetime,
    *,
    is_per_worker: bool,
) -> BonusOrder:
    """Return an order for this work, for each worker only the last of it if so wished.

    Expects rows of `rewardable`.
    """
    rows = sorted(work, key=lambda row: (row.worked_at, row.pk))  # type: ignore[attr-defined]
    if is_per_worker:
        rows = list({row.account: row for row in rows}.values())  # type: ignore[attr-defined]
    keys = tuple(row.pk for row in rows)
    return BonusOrder(requester.pk, keys, cents, reason, now.timestamp(), secrets.token_hex(8))


def send_some(order: BonusOrder, call: Call) -> tuple[int, int]:
    """Send the next of an order's bonuses; returns how many were sent now and how many are left.

    Asked again it goes on, and sends none twice. What is sent at once is sent wholly or not at
    all; raises WireError when the balance is short or one is refused.
    """
    mine = IdempotencyToken.objects.filter(requester=call.requester, operation="SendBonus")
    with atomic():
        # A second click waits here, and then finds what was sent.
        Requester.objects.select_for_update(no_key=True).get(pk=call.requester.pk)
        sent = set(mine.filter(token__startswith=f"{order.once}-").values_list("token", flat=True))
        tokens = {f"{order.once}-{key}": key for key in order.work}
        left = [token for token in tokens if token not in sent]
        keys = [tokens[token] for token in left[:MOST_AT_ONCE]]
        rows = Assignment.objects.select_related("worker").in_bulk(keys)
        for token in left[:MOST_AT_ONCE]:
            row = rows[tokens[token]]
            values = {
                "WorkerId": row.worker.worker_id,
                "AssignmentId": row.assignment_id,
                "BonusAmount": amount_of(order.cents),
                "Reason": order.reason,
                "UniqueRequestToken": token,
            }
            carry_out(call, "SendBonus", values)
    return len(keys), len(left) - len(keys)


LONGEST_REASON = 2000
MOST_CHOSEN = 10_000


@requester_page
def bonuses_of_batch(request: DeskRequest, key: int) -> HttpResponse:
    """Choose work of a batch for a bonus, see what it comes to, send it."""
    found = own_batch(request, key)
    settle_due(clock.now(), batch_row__batch=found)
    back = reverse("desk-batch", kwargs={"key": key})
    work = Assignment.objects.filter(hit__batch_row__batch=found)
    return _bonuses(request, work, found.name, back, "projects")


@requester_page
def bonuses_of_hit(request: DeskRequest, key: int) -> HttpResponse:
    """Choose work of one HIT for a bonus, see what it comes to, send it."""
    mine = HIT.objects.filter(requester=request.requester, pk=key)
    settle_due(clock.now(), pk=key, requester=request.requester)
    found = first_or_error(mine.select_related("hit_type"), NO_HIT)
    back = reverse("desk-hit", kwargs={"key": key})
    here = "projects" if hasattr(found, "batch_row") else "hits"
    work = Assignment.objects.filter(hit=found)
    return _bonuses(request, work, found.hit_type.title, back, here)


def _bonuses(
    request: DeskRequest, work: QuerySet[Assignment], name: str, back: str, here: str
) -> HttpResponse:
    """Return the page to choose on, the one to look at, or where the sender goes on."""
    rows = rewardable(work, clock.now())
    request.requester.refresh_from_db()

    def drawn(status: int = 200, **more: Any) -> HttpResponse:
        common = {"back": back, "name": name, "here": here, "requester": request.requester}
        return show(request, "bonuses.html", status, **common, **_choices(request, rows), **more)

    if request.method != "POST":
        return drawn()
    try:
        if "order" in request.POST:
            return _send(request, rows, name, drawn)
        order = _order(request, rows)
    except BonusOrderError as error:
        return drawn(400, problem=str(error))
    return drawn(**_facts_of(request, rows, order))


def _choices(request: DeskRequest, rows: QuerySet[Any]) -> dict[str, Any]:
    listed = rows.select_related("worker", "hit__hit_type").order_by("-worked_at", "-pk")
    asked = request.POST if request.method == "POST" else request.GET
    return {
        "page": page_of(request, listed),
        "n_all": rows.count(),
        "n_approved": rows.filter(state=AssignmentState.APPROVED).count(),
        "ticked": {int(key) for key in asked.getlist("work") if key.isdecimal()},
        "given": request.POST,
    }


def _order(request: DeskRequest, rows: QuerySet[Any]) -> BonusOrder:
    """Return the order that the form asks for; raises BonusOrderError with what to mend."""
    given = request.POST
    try:
        cents = typed_cents(given.get("amount", ""))
    except ValueError:
        raise BonusOrderError("Write the amount of one bonus, like 0.50.") from None
    if not 1 <= cents <= MOST_CENTS:
        raise BonusOrderError(f"One bonus can be {price_of(1)} to {price_of(MOST_CENTS)}.")
    reason = given.get("reason", "").replace("\x00", "").strip()
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise BonusOrderError(f"Write the reason in 1 to {LONGEST_REASON} characters.")
    if given.get("who") == "approved":
        rows = rows.filter(state=AssignmentState.APPROVED)
    elif given.get("who") != "all":
        ticked = [int(key) for key in given.getlist("work") if key.isdecimal() and len(key) < 18]
        rows = rows.filter(pk__in=ticked[:1000])
    chosen = list(rows.select_related("worker").defer("answer", "late_answer")[: MOST_CHOSEN + 1])
    if not chosen:
        raise BonusOrderError("Choose at least one piece of work.")
    if len(chosen) > MOST_CHOSEN:
        raise BonusOrderError(f"Choose {MOST_CHOSEN} at most.")
    is_per_worker = given.get("per") == "worker"
    now = clock.now()
    return make_order(request.requester, chosen, cents, reason, now, is_per_worker=is_per_worker)


def _facts_of(request: DeskRequest, rows: QuerySet[Any], order: BonusOrder) -> dict[str, Any]:
    chosen = rows.filter(pk__in=order.work)
    before = chosen.filter(bonus_cents__gt=0)
    return {
        "order": order,
        "signed": order.signed(),
        "sample": chosen.select_related("worker").order_by("-worked_at", "-pk")[:20],
        "n_before": before.count(),
        "before_cents": before.aggregate(total=Sum("bonus_cents"))["total"] or 0,
        "left_cents": request.requester.balance_cents - order.total_cents,
    }


def _send(
    request: DeskRequest,
    rows: QuerySet[Any],
    name: str,
    drawn: Callable[..., HttpResponse],
) -> HttpResponse:
    now = clock.now()
    order = order_signed(request.POST["order"], request.requester, now)
    try:
        n_sent, n_left = send_some(order, call_of(request, request.requester))
    except WireError as error:
        return drawn(400, problem=error.message, **_facts_of(request, rows, order))
    if n_sent:
        each = price_of(order.cents)
        record(request, f"Sent {n_sent} bonuses of {each} for {name}")
    if n_left:
        return drawn(going=order, signed=order.signed(), n_left=n_left)
    n_all = len(order.work)
    what = "One bonus is" if n_all == 1 else f"All {n_all} bonuses are"
    leave_notice(request, f"{what} sent: {price_of(order.total_cents)}.")
    return redirect(request.path)
