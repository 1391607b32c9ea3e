"""What the worker's page calls while they write: drafts, articles, submission, preferences."""

import logging
from typing import Any, cast
from uuid import UUID

from django.http import HttpResponse, QueryDict
from django.utils import timezone
from rest_framework.decorators import (
    api_view,
    authentication_classes,
    parser_classes,
    permission_classes,
)
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from collector.retrieval.file_format import RetrievalError
from tasks.kinds.kind import HandedInTogether
from tasks.kinds.registry import kind_of
from tasks.models import Lease, LeaseEnded, LeaseState, ProblemReport, Submission
from tasks.pages import entry as entries
from tasks.pages.notice_pages import work_form
from tasks.pages.page_state import DEFAULTS, seen_instructions
from tasks.pages.payload import BoundedJSON
from tasks.pages.tokens import LeaseToken
from tasks.pages.work_page import items_of
from tasks.work import leases, submissions
from tasks.work.articles import article_page
from tasks.work.ordered_answers import NotTheNextQuestion
from tasks.work.searching import results_of

logger = logging.getLogger(__name__)

MAX_REPORT_CHARACTERS = 5_000
# Of one HIT by one worker: more tell a requester nothing new.
MOST_REPORTS = 10
ENOUGH = "You have reported this HIT often enough; the requester will read what you wrote."
NO_SEARCH = "The search does not work just now. Report a problem with this HIT, or try again later."
UNREADABLE_DRAFT = "This draft cannot be read; reload the page."
OVER = "The time of this HIT is over or it was handed in. Reload the page to see where you stand."


class HasLease(IsAuthenticated):
    """Lets in whoever carries a lease's token."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return whether the request carries a lease."""
        return isinstance(request.auth, Lease)


def for_lease(view: Any) -> Any:
    """Make a JSON view that needs a lease's token and takes POST alone."""
    for limit in (
        permission_classes([HasLease]),
        authentication_classes([LeaseToken]),
        parser_classes([BoundedJSON]),
        api_view(["POST"]),
    ):
        view = limit(view)
    return view


def _lease(request: Request) -> Lease:
    return cast(Lease, request.auth)


def _body(request: Request) -> dict[str, Any]:
    return request.data if isinstance(request.data, dict) else {}


@for_lease
def draft(request: Request) -> Response:
    """Save what was written and say at once what is still to mend.

    A body without a draft only asks whether a newer one than `version` is kept.
    """
    lease = _lease(request)
    body = _body(request)
    content, version = body.get("draft"), body.get("version")
    # True counts as 1 to Python and to SQLite, not to PostgreSQL.
    if type(version) is not int or not 0 <= version < 2**31:
        return Response({"message": UNREADABLE_DRAFT}, status=400)
    if "draft" not in body:
        newest = {"version": lease.draft_version}
        newer = lease.draft_version != version
        return Response({**newest, "draft": lease.draft} if newer else newest)
    if not isinstance(content, dict):
        return Response({"message": UNREADABLE_DRAFT}, status=400)
    now = timezone.now()
    try:
        version = leases.save_draft(lease, content, version, now)
    except leases.StaleDraft:
        message = "You have written in another tab too. Choose which text to keep."
        return Response(
            {"message": message, "version": lease.draft_version, "draft": lease.draft}, status=409
        )
    except LeaseEnded:
        return Response({"message": OVER}, status=410)
    items = items_of(lease.unit)
    found = submissions.examine(lease, content.get("data"), items)
    submissions.note_reader(lease, found.hints)
    return Response(
        {
            "version": version,
            "saved_at": now.timestamp(),
            "problems": [problem.as_json() for problem in found.problems],
            "hints": [hint.as_json() for hint in found.hints],
        }
    )


@for_lease
def submit(request: Request) -> Response:
    """Take the work in, once, and return the form that hands the receipt to the marketplace."""
    lease = _lease(request)
    live = lease.state == LeaseState.LIVE
    done = None if live else Submission.objects.filter(lease=lease).first()
    if done is None:
        if lease.state == LeaseState.RETURNED:
            return Response({"message": OVER}, status=410)
        items = items_of(lease.unit)
        body = _body(request)
        found = submissions.examine(lease, body.get("data"), items)
        if found.problems:
            problems = [problem.as_json() for problem in found.problems]
            return Response({"problems": problems}, status=422)
        try:
            done = submissions.hand_in(
                lease, found.data, timezone.now(), synthetic=lease.worker.synthetic
            )
        except LeaseEnded:
            return Response({"message": OVER}, status=410)
        submissions.keep_reader(lease, found.hints)
    return Response({"form": work_form(lease.session, done.receipt)})


@for_lease
def answer(request: Request) -> Response:
    """Keep the answer to the next question for good, and tell what the page may show then."""
    lease = _lease(request)
    kind = kind_of(lease.unit.stage)
    body = _body(request)
    item, now = str(body.get("item")), timezone.now()
    try:
        problems = kind.give_answer(lease, item, body.get("answer"), items_of(lease.unit), now)
    except HandedInTogether:
        return Response({"message": "Answers of this HIT are handed in together."}, status=404)
    except NotTheNextQuestion:
        message = "This is not the next question: answer the one that is shown last."
        return Response({"message": message, **kind.page_state(lease)}, status=409)
    except LeaseEnded:
        return Response({"message": OVER}, status=410)
    if problems:
        return Response({"problems": [problem.as_json() for problem in problems]}, status=422)
    return Response(kind.page_state(lease))


@for_lease
def advice(request: Request) -> Response:
    """Say what is kindly said of a message that was sent for good; nothing waits for this."""
    lease = _lease(request)
    try:
        message = UUID(str(_body(request).get("message")))
    except ValueError:
        return Response({"hints": []})
    hints = kind_of(lease.unit.stage).hints_on_sent(lease, message)
    submissions.note_reader(lease, hints, kept=True)
    return Response({"hints": [hint.as_json() for hint in hints]})


@for_lease
def article(request: Request) -> HttpResponse:
    """Return a linked article's text, where the worker's role may read it."""
    lease = _lease(request)
    body = _body(request)
    items = items_of(lease.unit)
    found = article_page(lease, items, str(body.get("item")), str(body.get("title")))
    if found is None:
        return Response({"message": "This article is not in the collection's corpus."}, status=404)
    return HttpResponse(found, content_type="application/json")


@for_lease
def search(request: Request) -> Response:
    """Return what a query finds in the corpus, where the worker's role may search it."""
    lease = _lease(request)
    query = str(_body(request).get("query", "")).strip()
    if not kind_of(lease.unit.stage).searches:
        return Response({"message": "There is nothing to search in this HIT."}, status=404)
    if lease.state != LeaseState.LIVE:
        return Response({"message": OVER}, status=410)
    try:
        return Response({"query": query, "results": results_of(lease.unit.stage, query)})
    except RetrievalError as error:
        logger.error("A worker could not search: %s", error)
        return Response({"message": NO_SEARCH}, status=503)


@for_lease
def extend(request: Request) -> Response:
    """Follow the marketplace, which has given more time: the frame's new address proves it."""
    lease, now = _lease(request), timezone.now()
    query = str(_body(request).get("address", "")).partition("?")[2]
    try:
        entry = entries.read(QueryDict(query), now)
    except entries.Refused as refused:
        return Response({"message": str(refused)}, status=403)
    stay = (entry.assignment_id, entry.submit_url)
    if entry.expires_at is None or stay != (lease.session.session_id, lease.session.submit_url):
        return Response({"message": "This address belongs to a different HIT."}, status=403)
    try:
        ends = leases.follow(lease, entry.expires_at)
    except LeaseEnded:
        return Response({"message": OVER}, status=410)
    return Response({"expires_at": ends.timestamp()})


@for_lease
def problem(request: Request) -> Response:
    """Keep a worker's report about the HIT for the requester."""
    message = str(_body(request).get("message", "")).strip()[:MAX_REPORT_CHARACTERS]
    if not message:
        return Response({"message": "Say in a few words what is wrong."}, status=422)
    if _lease(request).problem_reports.count() >= MOST_REPORTS:
        return Response({"message": ENOUGH}, status=429)
    ProblemReport.objects.create(lease=_lease(request), message=message, at=timezone.now())
    return Response({"message": "Thank you. The requester will read this."})


@for_lease
def preferences(request: Request) -> Response:
    """Keep how the worker likes their pages; unknown names are left out."""
    worker = _lease(request).worker
    chosen = {
        name: value
        for name, value in _body(request).items()
        if name in DEFAULTS and isinstance(value, type(DEFAULTS[name])) and len(str(value)) <= 20
    }
    worker.preferences = {**worker.preferences, **chosen}
    worker.save(update_fields=["preferences"])
    return Response(chosen)


@for_lease
def instructions_seen(request: Request) -> Response:
    """Remember that the worker has read this version of the instructions."""
    lease = _lease(request)
    version = _body(request).get("version")
    if type(version) is int and 0 <= version < 2**31:
        lease.worker.preferences = seen_instructions(lease, version)
        lease.worker.save(update_fields=["preferences"])
    return Response({})
