"""The page inside the marketplace's frame: preview, consent, work, and every way it can end."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Any, cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from django.views.defaults import server_error as broken

from collector.models import Stage
from collector.protocols.creation import current_text, parameters_of
from common import outages
from common.prepared_sql import JoinedQuery, Table, execute
from tasks.crowd import marketplace
from tasks.hits import is_open
from tasks.ledger.lease_reserves import ReserveFailed
from tasks.models import Consent, LeaseEnded, LeaseState, Posting, PostingState, Session, Submission
from tasks.pages import notice_pages
from tasks.pages.notice_pages import notice
from tasks.pages.wording import fill_placeholders, markdown, pay
from tasks.pages.work_page import FRAME_PREFERENCES, preferences_asked_for, preview_page, work_page
from tasks.paying import reconcile
from tasks.people import eligibility, lease_context
from tasks.people import entry as entries
from tasks.people.entry import Entry, Refused
from tasks.people.lease_context import (
    COLLECTION,
    PARAMETERS,
    STAGE,
    session_of,
    session_token,
    with_parameters,
)
from tasks.people.qualifications import may_take
from tasks.work import due_work, leases
from tasks.work.kinds.hit_words import title_of

View = Callable[..., HttpResponseBase]
# What Django's never_cache says by several headers that it puts together anew each time.
NEVER_CACHED = "max-age=0, no-cache, no-store, must-revalidate, private"
# Why the fields of a form cannot be had.
UNREAD = (SuspiciousOperation, MultiPartParserError, UnreadablePostError)
# What a HIT has been paid or rejected for once, it is never paid for again.
DECIDED = (PostingState.SETTLED, PostingState.REJECTED)
TAKEN_SINCE = """EXISTS (
    SELECT 1 FROM tasks_session later
    WHERE later.posting_id = posting.id AND later.signed_until > %(until)s
        AND later.person <> %(person)s
)"""
HELD_NOW = """EXISTS (
    SELECT 1 FROM tasks_lease lease JOIN tasks_session stay ON stay.id = lease.session_id
    WHERE stay.posting_id = posting.id AND lease.state = 'live'
)"""
POSTING_QUERY = JoinedQuery(
    Table(
        "posting",
        Posting,
        "id stage_id token external_id state reward_cents reserved_cents worker_id",
    ),
    replace(STAGE, names=f"{STAGE.names} state", on="stage.id = posting.stage_id"),
    replace(COLLECTION, names=f"{COLLECTION.names} state"),
    plain=(PARAMETERS, TAKEN_SINCE, HELD_NOW),
)
STANDING = """
SELECT consent.agreed,
    EXISTS (
        SELECT 1 FROM tasks_lease lease JOIN tasks_submission submission
            ON submission.lease_id = lease.id
        WHERE lease.session_id = %(session)s
    ),
    EXISTS (
        SELECT 1 FROM tasks_lease lease
        WHERE lease.session_id = %(session)s AND lease.state = 'live'
    ),
    EXISTS (
        SELECT 1 FROM tasks_lease lease JOIN tasks_unit unit ON unit.id = lease.unit_id
        WHERE lease.worker_id = %(worker)s AND unit.stage_id = %(stage)s
            AND lease.state = 'live' AND lease.session_id <> %(session)s
    )
FROM collector_collectiontext text
LEFT JOIN tasks_consent consent ON consent.text_id = text.id AND consent.worker_id = %(worker)s
WHERE text.collection_id = %(collection)s AND text.name = 'consent'
ORDER BY text.version DESC LIMIT 1
"""
TITLE = "Back in a moment"
SAFE = "Our database does not answer right now. What was saved is safe"
LOOKS_AGAIN = f"{SAFE}, and this page opens itself again."
KEPT_HERE = f"{SAFE}, and what you just sent is kept in this page: send it again in a moment."
GO_BACK = f"{SAFE}: go back and send the form again in a moment."
KEEP = f"{SAFE}, and what you have written is kept in this page."
AGAIN = "Send it again"
BROKEN = "Something broke on our side"
BROKEN_HERE = (
    "It is written in our log, and what was saved is safe. Reload the page. If it happens again, "
    "return the HIT: that does not count against you."
)


def frameable(view: View) -> View:
    """Let the marketplace, and nobody else, frame the page and receive its form; no cookie."""

    @wraps(view)
    def answer(request: HttpRequest, *given: Any, **named: Any) -> HttpResponseBase:
        framed = _framed(view, settings.SOCKET_URL, tuple(settings.SUBMIT_ORIGINS))
        response = framed(request, *given, **named)
        response.headers["Cache-Control"] = NEVER_CACHED
        return response

    return csrf_exempt(answer)


@cache
def _framed(view: View, socket: str, origins: tuple[str, ...]) -> View:
    policy = {
        # Not every browser counts a socket of the page's own host as its own.
        "connect-src": [SELF, socket],
        "frame-ancestors": list(origins),
        "form-action": [SELF, *origins],
    }
    return cast(View, csp_replace(policy)(view))


@frameable
@require_GET
def enter(request: HttpRequest) -> HttpResponse:
    """Show what the address in the frame deserves; nothing is stored for a preview."""
    now = timezone.now()
    try:
        entry = entries.read(request.GET, now)
        context = lease_context.resume(entry)
        if context:
            with suppress(LeaseEnded):
                leases.follow(context.lease, entry.expires_at)
            return HttpResponse(work_page(context, now, preferences_asked_for(request.GET)))
        posting, is_held = posting_of(entry)
    except Refused as refused:
        return notice_pages.notice(request, refused.title, str(refused), status=403)
    stage = posting.stage
    if entry.preview:
        words = current_text(stage.collection, stage.name)
        setting = lease_context.stage_context_of(stage.pk, words.pk)
        page = preview_page(setting, posting.reward_cents, now, preferences_asked_for(request.GET))
        return HttpResponse(page)
    session = entries.open_session(entry, posting, now)
    for lease in entries.others_leases(session) if is_held else ():
        leases.end(lease, LeaseState.RETURNED, now)
    return proceed(request, session, stage)


def proceed(request: HttpRequest, session: Session, stage: Stage) -> HttpResponse:
    """Lead a known person through consent and qualification to their work."""
    if session.posting.worker_id:
        return notice_pages.compensation(request, session)
    standing = standing_of(session)
    if standing.has_handed_in:
        done = Submission.objects.filter(lease__session=session).latest("id")
        return notice_pages.handed_in(request, session, done)
    if session.posting.state in DECIDED:
        return notice_pages.decided(request, session)
    if standing.agreed is None:
        return _ask_consent(request, session, stage)
    if not standing.agreed:
        eligibility.close_for_now(session.worker, stage)
        return notice_pages.declined(request)
    table = parameters_of(stage.collection).stages()[stage.name]
    if not may_take(session.worker, stage, table):
        return notice_pages.not_qualified(request, stage)
    if not is_open(stage) and not standing.works_here:
        return notice_pages.closed(request, stage)
    if standing.works_elsewhere:
        reconcile.free_returned(session, stage, timezone.now())
    try:
        lease = leases.claim(session, stage, timezone.now())
    except ReserveFailed:
        return notice_pages.not_held(request)
    if lease is None:
        eligibility.close_for_now(session.worker, stage)
        return notice_pages.no_work(request)
    # What is left for them, now that they have this, is known when the jobs have looked.
    due_work.wake(stage.collection_id)
    page = work_page(
        lease_context.context_of(lease),
        timezone.now(),
        preferences_asked_for(request.GET or request.POST),
    )
    return HttpResponse(page)


@frameable
@require_POST
def consent(request: HttpRequest) -> HttpResponse:
    """Record what a person answered to the consent text, and go on or end cleanly."""
    try:
        token = request.POST.get("token", "")
    except UNREAD as error:
        return notice_pages.unreadable(request, error)
    session = session_of(token, timezone.now())
    if session is None:
        return notice_pages.notice(
            request,
            "We could not check who you are",
            "Open the HIT again from the marketplace; nothing is lost.",
            status=403,
        )
    stage = session.posting.stage
    text = current_text(stage.collection, "consent")
    if request.POST.get("version") != str(text.version):
        return _ask_consent(request, session, stage)
    Consent.objects.update_or_create(
        worker=session.worker,
        text=text,
        defaults={"agreed": request.POST.get("consent") == "agree", "at": timezone.now()},
    )
    return proceed(request, session, stage)


def _ask_consent(request: HttpRequest, session: Session, stage: Stage) -> HttpResponse:
    collection = stage.collection
    parameters = parameters_of(collection)
    text = current_text(collection, "consent")
    table = parameters.stages()[stage.name]
    cents = session.posting.reward_cents
    asked = request.GET or request.POST
    return render(
        request,
        "hits/consent.html",
        {
            "action": "/hit/consent",
            "fields": {
                "token": session_token(session),
                "version": text.version,
                **{name: asked[name] for name in FRAME_PREFERENCES if name in asked},
            },
            "state": {"preferences": preferences_asked_for(asked)},
            "html": markdown(
                fill_placeholders(text.markdown, collection, parameters, stage.name, cents)
            ),
            "title": title_of(table),
            "pay": pay(cents, table, parameters),
            "minutes": table.expected_minutes,
            "requester": {
                "name": collection.requester_name,
                "contact": collection.requester_contact,
                "protocol_number": collection.ethics_number,
            },
        },
    )


@dataclass(frozen=True)
class Standing:
    """Where the person of a session stands with its HIT.

    agreed: what they answered to the newest consent text; None before they have. works_elsewhere:
    at another HIT of the stage.
    """

    agreed: bool | None
    has_handed_in: bool
    works_here: bool
    works_elsewhere: bool


def posting_of(entry: Entry) -> tuple[Posting, bool]:
    """Return our posting of the HIT, and whether somebody is at work on it.

    Raises Refused for a HIT that is not ours, or that somebody accepted after this address was
    signed.
    """
    row = entry.hit_id.isalnum() and POSTING_QUERY.first(
        "posting.provider = %(provider)s AND posting.environment = %(environment)s"
        " AND posting.external_id = %(hit)s",
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        hit=entry.hit_id,
        until=entry.expires_at,
        person=entry.person,
    )
    if not row:
        raise Refused(
            "We do not know this HIT",
            "The address names no HIT of ours. Open it again from the marketplace.",
        )
    posting, stage, collection, parameters, taken_since, held = row
    if taken_since:
        raise Refused(
            "You have returned this HIT",
            "Somebody else has it now. What you wrote is kept: accept a HIT of this kind again "
            "and you go on where you stopped.",
        )
    posting.stage = with_parameters(stage, collection, parameters)
    return posting, bool(held)


def standing_of(session: Session) -> Standing:
    """Return where the session's person stands with its HIT."""
    stage = session.posting.stage
    who = {"session": session.pk, "worker": session.worker_id, "stage": stage.pk}
    [(agreed, *rest)] = execute(STANDING, {**who, "collection": stage.collection_id})
    return Standing(None if agreed is None else bool(agreed), *map(bool, rest))


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Return the page for a fault of ours, or for a service that is away; it needs no database."""
    is_script = request.content_type == "application/json"
    is_framed = request.path.startswith(reverse("hit")) and not is_script
    if not outages.is_away():
        return _broken_in_frame(request) if is_framed else broken(request)
    if is_script:
        # A script of a page has asked: the page keeps its text and asks again.
        return outages.with_retry(request, JsonResponse({"message": KEEP}))
    fields = outages.sent_fields(request)
    message = LOOKS_AGAIN if request.method == "GET" else KEPT_HERE if fields else GO_BACK
    form = {"action": request.get_full_path(), "fields": fields, "label": AGAIN}
    if is_framed:
        return _in_frame(request, message, form)
    again = form if fields else None
    context = {"title": TITLE, "message": message, "again": again}
    return outages.with_retry(request, render(request, "503.html", context))


@frameable
def _broken_in_frame(request: HttpRequest) -> HttpResponse:
    return notice(request, BROKEN, BROKEN_HERE, status=500)


@frameable
def _in_frame(request: HttpRequest, message: str, form: dict[str, object]) -> HttpResponse:
    if not form["fields"]:
        return outages.with_retry(request, notice(request, TITLE, message))
    # The notice's forms have one value for each name, as all forms of the frame do.
    fields = dict(form["fields"])  # type: ignore[call-overload]
    page = notice(request, TITLE, message, form={**form, "fields": fields})
    return outages.with_retry(request, page)
