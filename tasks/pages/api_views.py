"""What the worker's page calls while they write: drafts, articles, submission, preferences."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import APIException, MethodNotAllowed

from collector.retrieval.index import RetrievalError
from common.trace import assignment_digest, note, request_id
from tasks.models import Lease, LeaseEnded, LeaseState, ProblemReport, Submission
from tasks.pages.notice_pages import work_form
from tasks.pages.work_page import DEFAULTS, items_of, seen_instructions
from tasks.payload import read_json
from tasks.people import entry as entries
from tasks.people.lease_context import bearers_lease
from tasks.work import leases, submissions
from tasks.work.kinds.kind import HandedInTogether, NotTheNextQuestion
from tasks.work.kinds.registry import kind_of
from tasks.work.reading import article_page, results_of

logger = logging.getLogger(__name__)

# What a refusal says beside its sentence.
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 405: {"Allow": "POST"}}
MAX_REPORT_CHARACTERS = 5_000
# Of one HIT by one worker: more tell a requester nothing new.
MOST_REPORTS = 10
ENOUGH = "You have reported this HIT often enough; the requester will read what you wrote."
NO_SEARCH = "The search does not work just now. Report a problem with this HIT, or try again later."
UNREADABLE_DRAFT = "This draft cannot be read; reload the page."
OVER = "The time of this HIT is over or it was handed in. Reload the page to see where you stand."


def for_lease(view: Callable[[HttpRequest, Lease], HttpResponse]) -> Callable[..., HttpResponse]:
    """Make a view that needs a lease's token and takes JSON by POST alone; no is said in JSON too.

    Of REST framework only the ways to refuse: to choose among parsers and renderers, where there is
    one of each, takes as long as to find the lease.
    """

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            lease = bearers_lease(request)
            if request.method != "POST":
                raise MethodNotAllowed(str(request.method))
            if request_id():
                note(lease=lease.pk, assignment=assignment_digest(lease.session.session_id))
            return view(request, lease)
        except APIException as refused:
            return JsonResponse(
                {"detail": str(refused.detail)},
                status=refused.status_code,
                headers=HEADERS.get(refused.status_code, {}),
            )

    return answer


def _body(request: HttpRequest) -> dict[str, Any]:
    body = read_json(request)
    return body if isinstance(body, dict) else {}


@for_lease
def draft(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Save what was written and say at once what is still to mend.

    A body without a draft only asks whether a newer one than `version` is kept.
    """
    body = _body(request)
    content, version = body.get("draft"), body.get("version")
    # True counts as 1 to Python and to SQLite, not to PostgreSQL.
    if type(version) is not int or not 0 <= version < 2**31:
        return JsonResponse({"message": UNREADABLE_DRAFT}, status=400)
    if "draft" not in body:
        newest = {"version": lease.draft_version}
        newer = lease.draft_version != version
        return JsonResponse({**newest, "draft": lease.draft} if newer else newest)
    if not isinstance(content, dict):
        return JsonResponse({"message": UNREADABLE_DRAFT}, status=400)
    now = timezone.now()
    try:
        version = leases.save_draft(lease, content, version, now)
    except leases.StaleDraft:
        message = "You have written in another tab too. Choose which text to keep."
        return JsonResponse(
            {"message": message, "version": lease.draft_version, "draft": lease.draft}, status=409
        )
    except LeaseEnded:
        return JsonResponse({"message": OVER}, status=410)
    items = items_of(lease.unit)
    found = submissions.examine(lease, content.get("data"), items)
    submissions.note_reader(lease, found.hints)
    return JsonResponse(
        {
            "version": version,
            "saved_at": now.timestamp(),
            "problems": [problem.as_json() for problem in found.problems],
            "hints": [hint.as_json() for hint in found.hints],
        }
    )


@for_lease
def submit(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Take the work in, once, and return the form that hands the receipt to the marketplace."""
    live = lease.state == LeaseState.LIVE
    done = None if live else Submission.objects.filter(lease=lease).first()
    if done is None:
        if lease.state == LeaseState.RETURNED:
            return JsonResponse({"message": OVER}, status=410)
        items = items_of(lease.unit)
        body = _body(request)
        found = submissions.examine(lease, body.get("data"), items)
        if found.problems:
            problems = [problem.as_json() for problem in found.problems]
            return JsonResponse({"problems": problems}, status=422)
        try:
            done = submissions.hand_in(
                lease, found.data, timezone.now(), synthetic=lease.worker.synthetic
            )
        except LeaseEnded:
            return JsonResponse({"message": OVER}, status=410)
        submissions.keep_reader(lease, found.hints)
    return JsonResponse({"form": work_form(lease.session, done)})


@for_lease
def answer(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Keep the answer to the next question for good, and tell what the page may show then."""
    kind = kind_of(lease.unit.stage)
    body = _body(request)
    item, now = str(body.get("item")), timezone.now()
    try:
        problems = kind.give_answer(lease, item, body.get("answer"), items_of(lease.unit), now)
    except HandedInTogether:
        return JsonResponse({"message": "Answers of this HIT are handed in together."}, status=404)
    except NotTheNextQuestion:
        message = "This is not the next question: answer the one that is shown last."
        return JsonResponse({"message": message, **kind.page_state(lease)}, status=409)
    except LeaseEnded:
        return JsonResponse({"message": OVER}, status=410)
    if problems:
        return JsonResponse({"problems": [problem.as_json() for problem in problems]}, status=422)
    return JsonResponse(kind.page_state(lease))


@for_lease
def advice(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Say what is kindly said of a message that was sent for good; nothing waits for this."""
    try:
        message = UUID(str(_body(request).get("message")))
    except ValueError:
        return JsonResponse({"hints": []})
    hints = kind_of(lease.unit.stage).hints_on_sent(lease, message)
    submissions.note_reader(lease, hints, kept=True)
    return JsonResponse({"hints": [hint.as_json() for hint in hints]})


@for_lease
def article(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Return a linked article's text, where the worker's role may read it."""
    body = _body(request)
    items = items_of(lease.unit)
    found = article_page(lease, items, str(body.get("item")), str(body.get("title")))
    if found is None:
        return JsonResponse(
            {"message": "This article is not in the collection's corpus."}, status=404
        )
    return HttpResponse(found, content_type="application/json")


@for_lease
def search(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Return what a query finds in the corpus, where the worker's role may search it."""
    query = str(_body(request).get("query", "")).strip()
    if not kind_of(lease.unit.stage).searches:
        return JsonResponse({"message": "There is nothing to search in this HIT."}, status=404)
    if lease.state != LeaseState.LIVE:
        return JsonResponse({"message": OVER}, status=410)
    try:
        return JsonResponse({"query": query, "results": results_of(lease.unit.stage, query)})
    except RetrievalError as error:
        logger.error("A worker could not search: %s", error)
        return JsonResponse({"message": NO_SEARCH}, status=503)


@for_lease
def extend(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Follow the marketplace, which has given more time: the frame's new address proves it."""
    now = timezone.now()
    query = str(_body(request).get("address", "")).partition("?")[2]
    try:
        entry = entries.read(QueryDict(query), now)
    except entries.Refused as refused:
        return JsonResponse({"message": str(refused)}, status=403)
    stay = (entry.assignment_id, entry.submit_url)
    if entry.expires_at is None or stay != (lease.session.session_id, lease.session.submit_url):
        return JsonResponse({"message": "This address belongs to a different HIT."}, status=403)
    try:
        ends = leases.follow(lease, entry.expires_at)
    except LeaseEnded:
        return JsonResponse({"message": OVER}, status=410)
    return JsonResponse({"expires_at": ends.timestamp()})


@for_lease
def problem(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Keep a worker's report about the HIT for the requester; the same words count once."""
    message = str(_body(request).get("message", "")).strip()[:MAX_REPORT_CHARACTERS]
    if not message:
        return JsonResponse({"message": "Say in a few words what is wrong."}, status=422)
    with transaction.atomic():
        Lease.objects.select_for_update(no_key=True).get(pk=lease.pk)
        told = list(lease.problem_reports.values_list("message", flat=True))
        if message not in told and len(told) >= MOST_REPORTS:
            return JsonResponse({"message": ENOUGH}, status=429)
        if message not in told:
            ProblemReport.objects.create(lease=lease, message=message, at=timezone.now())
    return JsonResponse({"message": "Thank you. The requester will read this."})


@for_lease
def preferences(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Keep how the worker likes their pages; unknown names are left out."""
    worker = lease.worker
    chosen = {
        name: value
        for name, value in _body(request).items()
        if name in DEFAULTS and isinstance(value, type(DEFAULTS[name])) and len(str(value)) <= 20
    }
    worker.preferences = {**worker.preferences, **chosen}
    worker.save(update_fields=["preferences"])
    return JsonResponse(chosen)


@for_lease
def instructions_seen(request: HttpRequest, lease: Lease) -> HttpResponse:
    """Remember that the worker has read this version of the instructions."""
    version = _body(request).get("version")
    if type(version) is int and 0 <= version < 2**31:
        lease.worker.preferences = seen_instructions(lease, version)
        lease.worker.save(update_fields=["preferences"])
    return JsonResponse({})
