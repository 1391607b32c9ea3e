"""The work itself: the queue, the frame with its bar, giving back, what comes after submitting."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import conditional_escape
from django.utils.translation import get_language, gettext_noop
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from common.prepared_sql import JoinedQuery, Table
from marketplace import clock
from marketplace.amounts import price_of
from marketplace.configuration import base_url, currency_symbol, is_own_origin
from marketplace.hits.acceptance import (
    ContestError,
    RefusedError,
    accept_next,
    available_hits,
    can_come_late,
    can_contest,
    can_extend,
    extend,
    give_back,
    late_work,
    may_accept,
    raise_contest,
)
from marketplace.hits.facts import allow_of, least_width, missing_permissions
from marketplace.hits.lifecycle import settle_due
from marketplace.models import (
    HANDED_IN,
    HIT,
    Assignment,
    AssignmentState,
    Contest,
    HITType,
    Requester,
    WorkerProfile,
)
from marketplace.models.keywords import StatedTerms
from marketplace.people.requirements import access_to, record_of
from marketplace.questions.answers import readable
from marketplace.questions.question import GRACE_SECONDS, Entry, entry_url, with_preferences
from marketplace.site.frame_views import page_address
from marketplace.site.hit_views import origin_of
from marketplace.templatetags.marketplace_words import moment
from marketplace.web.pages import SANDBOX, PageError, harden
from marketplace.web.worker_pages import (
    SignedInRequest,
    leave_notice,
    show,
    take_notice,
    worker_page,
)

# What is each page's own, and what stands for it while the page is drawn: nobody writes that into
# a title. Addresses take the key of an acceptance, which is a number.
STAND_INS = {
    name: str(10**30 + secrets.randbelow(10**30))
    for name in ("key", "deadline", "grace", "now", "until", "address", "token")
}
NAMES = {stand_in: name for name, stand_in in STAND_INS.items()}
PLACE = re.compile(f"({'|'.join(NAMES)})")


@dataclass(frozen=True)
class TaskFrame:
    """All that the page shows besides what is each page's own: equal frames are drawn alike.

    currency: the sign before its amounts. least_height and least_width: of the task, in pixels.
    """

    language: str
    theme: str
    has_large_text: bool
    accepts_next: bool
    notice: str
    title: str
    asked_by: str
    stated: StatedTerms
    is_once: bool
    currency: str
    reward_cents: int
    can_extend: bool
    least_height: int
    least_width: int
    origin: str
    sandbox: str
    allow: str
    may_not_use: str


def draw_frame(frame: TaskFrame, own: Mapping[str, object]) -> str:
    """Return the page in the active language, which is the frame's.

    own: the value of each of STAND_INS; `address` is the task's, `token` that of the page's forms.
    """
    pieces = _pieces(frame)
    written = {name: conditional_escape(str(value)) for name, value in own.items()}
    return "".join(written[piece] if number % 2 else piece for number, piece in enumerate(pieces))


@lru_cache(maxsize=256)
def _pieces(frame: TaskFrame) -> list[str]:
    """Return the page's pieces; every second one names what stands there."""
    told = {
        "frame": frame,
        "worker": frame,
        "assignment": {"pk": STAND_INS["key"], "reward_cents": frame.reward_cents},
        "extension_seconds": 60 * frame.stated.extension_minutes,
        "csrf_token": STAND_INS["token"],
        **{name: STAND_INS[name] for name in ("deadline", "grace", "now", "until", "address")},
    }
    pieces = PLACE.split(render_to_string("marketplace/work.html", told))
    return [NAMES.get(piece, piece) for piece in pieces]


NOT_YOURS = gettext_noop("There is no such HIT in your queue.")
SUBMIT_PATH = "/mturk/externalSubmit"


OWN = JoinedQuery(
    Table("assignment", Assignment, "*"),
    Table("hit", HIT, "*", "hit.id = assignment.hit_id"),
    Table("kind", HITType, "*", "kind.id = hit.hit_type_id"),
    Table("requester", Requester, "*", "requester.id = hit.requester_id"),
    Table(
        "contest",
        Contest,
        "*",
        "contest.assignment_id = assignment.id",
        optional=True,
    ),
    # There where the HIT's requester calls the worker by their id at MTurk (people/accounts.py).
    Table(
        "profile",
        WorkerProfile,
        "id mturk_id",
        "profile.worker_id = assignment.worker_id AND EXISTS (SELECT 1 FROM "
        f"{WorkerProfile.named_by.through._meta.db_table} named WHERE "
        "named.workerprofile_id = profile.id AND named.requester_id = hit.requester_id)",
        optional=True,
    ),
)


@dataclass(frozen=True)
class SubmittedForm:
    """The fields of the form by name; `address`, where the task itself shows them, or ""."""

    fields: dict[str, str]
    address: str


def sent_with(assignment: Assignment) -> SubmittedForm:
    """Return what was handed in; an answer that is an address of the task's own site is a link."""
    fields = readable(assignment.answer) if assignment.answer else {}
    origin = origin_of(assignment.hit.external_url)
    addresses = [value for value in fields.values() if value.startswith(f"{origin}/")]
    return SubmittedForm(fields, addresses[0] if addresses else "")


def own_assignment(request: SignedInRequest, key: int) -> Assignment:
    """Return the signed-in worker's acceptance, settled; raises PageError for anybody else's."""
    rows = _own_rows(request, key)
    due = rows[1].next_due_at
    if due is not None and due <= clock.now():
        settle_due(clock.now(), assignments__pk=key)
        rows = _own_rows(request, key)
    assignment, hit, kind, requester, contest, profile = rows
    assignment.old_id = profile.mturk_id if profile else None
    assignment.hit, assignment.worker = hit, request.worker
    assignment._state.fields_cache["contest"] = contest
    hit.hit_type, hit.requester, kind.requester = kind, requester, requester
    return assignment  # type: ignore[no-any-return]


def _own_rows(request: SignedInRequest, key: int) -> list[Any]:
    mine = "assignment.id = %(key)s AND assignment.worker_id = %(worker)s"
    # An address may have more digits than a column takes.
    row = OWN.first(mine, key=key, worker=request.worker.pk) if key < 2**63 else None
    if row is None:
        raise PageError(NOT_YOURS)
    return row


@worker_page
@require_safe
def queue(request: SignedInRequest) -> HttpResponse:
    """Show the HITs in progress, the most urgent first, and what can still be handed in late."""
    now = clock.now()
    settle_due(now, assignments__worker=request.worker)
    held = Assignment.objects.filter(
        worker=request.worker, state=AssignmentState.ACCEPTED, deadline__gt=now
    ).select_related("hit__hit_type__requester")
    late = late_work(request.worker, now)
    for one in late:
        ends = one.deadline + timedelta(seconds=GRACE_SECONDS)
        one.grace_ends = ends  # type: ignore[attr-defined]
    return show(request, "queue.html", here="queue", held=[*late, *held.order_by("deadline")])


@worker_page
@require_safe
def work(request: SignedInRequest, key: int) -> HttpResponse:
    """Show the task in its frame under a thin bar; what is over says so."""
    assignment = own_assignment(request, key)
    if assignment.state in HANDED_IN:
        return redirect("submitted", key=key)
    is_open = assignment.state == AssignmentState.ACCEPTED or can_come_late(
        assignment, assignment.hit, clock.now()
    )
    if not is_open:
        can_accept = may_accept(request.worker, assignment.hit, clock.now())
        return show(request, "over.html", status=410, assignment=assignment, can_accept=can_accept)
    if is_own_origin(assignment.hit.external_url, request):
        raise PageError(_("This HIT's page is on the marketplace's own address; return the HIT."))
    response = HttpResponse(_drawn(request, assignment))
    # A window that the task opens has to find its way back to the frame.
    response["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
    return harden(response, frame_src="http: https:")


def _drawn(request: SignedInRequest, assignment: Assignment) -> str:
    worker, hit, now = request.worker, assignment.hit, clock.now()
    frame = TaskFrame(
        language=str(get_language()),
        theme=worker.theme,
        has_large_text=worker.has_large_text,
        accepts_next=worker.accepts_next,
        notice=take_notice(request),
        title=hit.hit_type.title,
        asked_by=hit.hit_type.asked_by,
        stated=hit.hit_type.stated,
        is_once=hit.hit_type.is_once,
        currency=currency_symbol(),
        reward_cents=assignment.reward_cents,
        can_extend=can_extend(assignment, now),
        least_height=hit.frame_height,
        least_width=least_width(hit.hit_type),
        origin=origin_of(hit.external_url),
        sandbox=SANDBOX[hit.question_kind],
        allow=allow_of(hit.requester.frame_permissions, hit.question_kind),
        may_not_use=missing_permissions(hit.requester.frame_permissions, hit.question_kind),
    )
    ends = int(assignment.deadline.timestamp())
    own = {
        "key": assignment.pk,
        "deadline": ends,
        "grace": ends + GRACE_SECONDS,
        "now": int(now.timestamp()),
        "until": moment(assignment.deadline),
        "address": frame_url(request, assignment),
        "token": get_token(request),
    }
    return draw_frame(frame, own)


def frame_url(request: SignedInRequest, assignment: Assignment) -> str:
    """Return the signed address of an acceptance's frame, the same on every reload."""
    hit = assignment.hit
    old_id: str | None = assignment.old_id  # type: ignore[attr-defined]
    submit_path = reverse("external-submit", kwargs={"secret": assignment.secret})
    entry = Entry(
        assignment_id=assignment.assignment_id,
        hit_id=hit.hit_id,
        worker_id=old_id or assignment.worker.worker_id,
        submit_to=base_url(request) + submit_path.removesuffix(SUBMIT_PATH),
        expires=int(assignment.deadline.timestamp()) + GRACE_SECONDS,
    )
    address = page_address(request, hit, assignment.secret)
    url = entry_url(address, hit.requester.entry_secret, entry)
    return with_preferences(url, assignment.worker.display_preferences)


@worker_page
@require_POST
def extend_time(request: SignedInRequest, key: int) -> HttpResponse:
    """Give the worker more time once: the page's script is told the new end, others see the page.

    The frame's new address proves the new end to the task, also in a frame that stays open.
    """
    assignment = own_assignment(request, key)
    try:
        extend(assignment, clock.now())
    except RefusedError as refusal:
        leave_notice(request, str(refusal))
        return redirect("work", key=key)
    if "quietly" not in request.POST:
        return redirect("work", key=key)
    ends = int(assignment.deadline.timestamp())
    address = frame_url(request, assignment)
    return JsonResponse({"deadline": ends, "grace": ends + GRACE_SECONDS, "address": address})


@worker_page
def return_hit(request: SignedInRequest, key: int) -> HttpResponse:
    """Ask whether to give a HIT back, and do it when the worker says so."""
    assignment = own_assignment(request, key)
    if request.method != "POST":
        return show(request, "return.html", assignment=assignment)
    try:
        give_back(assignment, clock.now())
    except RefusedError as refusal:
        leave_notice(request, str(refusal))
        return redirect("submitted", key=key)
    if assignment.state != AssignmentState.RETURNED:
        # Its page says what can still be done.
        leave_notice(request, _("The time for this HIT ran out: there is nothing to return."))
        return redirect("work", key=key)
    title = assignment.hit.hit_type.title
    leave_notice(request, _("You returned “%(title)s”.") % {"title": title})
    return redirect("available")


@worker_page
@require_safe
def submitted(request: SignedInRequest, key: int) -> HttpResponse:
    """Show the receipt of what was handed in, and the way to the next HIT."""
    assignment = own_assignment(request, key)
    if assignment.state not in HANDED_IN or assignment.submitted_at is None:
        return redirect("work", key=key)
    return receipt(request, assignment)


def receipt(
    request: SignedInRequest, assignment: Assignment, status: int = 200, **context: Any
) -> HttpResponse:
    """Return the page of work that was handed in: what became of it, and what comes next."""
    assert assignment.submitted_at is not None
    now, kind = clock.now(), assignment.hit.hit_type
    may_accept = access_to(kind, record_of(request.worker)).can_accept
    rows = available_hits(request.worker, now).filter(hit_type=kind)
    return show(
        request,
        "submitted.html",
        status=status,
        assignment=assignment,
        kind=kind,
        can_contest=can_contest(assignment, now),
        sent=sent_with(assignment),
        bonuses=assignment.bonuses.order_by("pk"),
        has_next=may_accept and rows.exists(),
        is_fresh=now - assignment.submitted_at < timedelta(minutes=10),
        **context,
    )


@worker_page
@require_POST
def next_hit(request: SignedInRequest, key: int) -> HttpResponse:
    """Accept another HIT of the type just done, and remember whether to do so unasked."""
    assignment = own_assignment(request, key)
    is_automatic = "automatic" in request.POST
    if not is_automatic:
        request.worker.accepts_next = "remember" in request.POST
        request.worker.save(update_fields=["accepts_next"])
    kind = assignment.hit.hit_type
    try:
        following = accept_next(request.worker, kind, clock.now())
    except RefusedError as refusal:
        if is_automatic:
            return redirect("submitted", key=key)
        leave_notice(request, str(refusal))
        return redirect("available")
    if is_automatic:
        words = {"reward": price_of(assignment.reward_cents)}
        leave_notice(request, _("Submitted. %(reward)s awaits approval.") % words)
    return redirect("work", key=following.pk)


@worker_page
@require_POST
def contest(request: SignedInRequest, key: int) -> HttpResponse:
    """Contest the rejection of one's own work; what is refused keeps what was written."""
    assignment = own_assignment(request, key)
    text = request.POST.get("text", "")
    try:
        raise_contest(assignment, text, clock.now())
    except ContestError as refusal:
        if assignment.state != AssignmentState.REJECTED:
            leave_notice(request, str(refusal))
            return redirect("submitted", key=key)
        return receipt(request, assignment, 400, problem=str(refusal), text=text)
    leave_notice(request, _("Your word against the rejection was sent."))
    return redirect("submitted", key=key)
