"""What a task's frame opens and what it sends: pages of HITs kept here, and handed-in answers."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote_to_bytes, urlsplit

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from common.long_bodies import long_bodies_from
from common.trace import assignment_digest, note
from marketplace import clock
from marketplace.configuration import base_url
from marketplace.hits.acceptance import TooLateError, keep_aside, submit
from marketplace.languages import language_active
from marketplace.models import HIT, Assignment
from marketplace.people.requirements import access_to, record_of
from marketplace.questions.answers import RESERVED, answers_xml, form_answers_xml
from marketplace.questions.question import FormQuestion, page_in, read_question
from marketplace.questions.question_form import answers_of
from marketplace.web.pages import framed, harden
from marketplace.web.worker_pages import SignedInRequest, worker_page


def page_address(request: HttpRequest, hit: HIT, secret: str = "") -> str:
    """Return what a HIT's frame opens, without its query: a page elsewhere or the one below."""
    if hit.question_kind == "external":
        return hit.external_url
    if secret:
        return base_url(request) + reverse("html-question", kwargs={"secret": secret})
    return base_url(request) + reverse("html-preview", kwargs={"hit_id": hit.hit_id})


@require_safe
def accepted(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the page of an acceptance, which its secret proves as it does when submitting."""
    assignment = (
        Assignment.objects.select_related("hit__hit_type", "worker").filter(secret=secret).first()
    )
    with language_active(request, assignment.worker.language if assignment else ""):
        if assignment is None or assignment.hit.question_kind == "external":
            return _missing(request)
        return _page(request, assignment.hit, assignment)


@worker_page
@require_safe
def preview(request: SignedInRequest, hit_id: str) -> HttpResponse:
    """Show the page of a HIT to a worker who may look at it."""
    hit = HIT.objects.select_related("hit_type__requester").filter(hit_id=hit_id).first()
    if hit is None or hit.question_kind == "external" or not hit.is_assignable(clock.now()):
        return _missing(request)
    if not access_to(hit.hit_type, record_of(request.worker)).can_preview:
        return _missing(request)
    return _page(request, hit)


def _missing(request: HttpRequest) -> HttpResponse:
    """Return the small page shown in a frame that has nothing to show."""
    context = {"heading": _("Not here"), "sentence": _("There is no such page.")}
    response = render(request, "marketplace/in_frame.html", context, status=404)
    return harden(response, frame_ancestors="'self'")


def _page(request: HttpRequest, hit: HIT, assignment: Assignment | None = None) -> HttpResponse:
    if hit.question_kind == "form":
        return form_page(request, hit, assignment)
    return framed(page_in(hit.question))


def form_page(
    request: HttpRequest,
    hit: HIT,
    assignment: Assignment | None,
    status: int = 200,
    **context: object,
) -> HttpResponse:
    """Return the page of a QuestionForm, to be looked at where there is no acceptance.

    `context` has what was sent and what is to be mended, if anything.
    """
    question = read_question(hit.question)
    assert isinstance(question, FormQuestion)
    context |= {"form": question.form, "assignment": assignment, "title": hit.hit_type.title}
    response = render(request, "marketplace/form_question.html", context, status=status)
    return harden(response, frame_ancestors="'self'")


NOTHING_LOST = gettext_noop("Nothing was submitted or lost: go back and try again.")
TWO_HOLDERS = gettext_noop(
    "This page does not say who is submitting, and somebody else had this HIT before. What you "
    "sent was kept: write to the requester, who can still pay you for it."
)


# The part of `turkSubmitTo` that proves an acceptance.
SECRET = re.compile(r"/accepted/([A-Za-z0-9_-]{1,64})/?")
ENTITY_ID = re.compile(r"[A-Za-z0-9]{1,64}")

Fields = dict[str, list[str]]


def _is_accepted(request: HttpRequest, secret: str) -> bool:
    return _accepted_with(secret) is not None


def _is_somebodys(request: HttpRequest) -> bool:
    # What only the form says is not read yet: a long form proves itself by the page it came from.
    return bool(_holders(request, dict(request.GET.lists())))


@long_bodies_from(_is_accepted)
@csrf_exempt
def external_submit(request: HttpRequest, secret: str) -> HttpResponse:
    """Hand in the assignment whose acceptance this secret belongs to.

    The secret in the path proves the acceptance; no cookie reaches a frame on another site. The
    form carries `assignmentId` and at least one field more, in its body or in the address, as
    published pages send them. Twice is the same as once.
    """
    assignment = _accepted_with(secret)
    with language_active(request, assignment.worker.language if assignment else ""):
        return _hand_in(request, _fields_of(request), assignment)


@long_bodies_from(_is_somebodys)
@csrf_exempt
def fixed_submit(request: HttpRequest) -> HttpResponse:
    """Hand in for a page that posts to the service's own path instead of `turkSubmitTo`.

    The acceptance is found by a secret that came along all the same, else by the assignment's id.
    """
    fields = _fields_of(request)
    holders = _holders(request, fields or {})
    assignment = holders[0] if holders else None
    with language_active(request, assignment.worker.language if assignment else ""):
        if fields is not None and len(holders) > 1:
            keep_aside(holders[0], answers_xml(fields.items()), clock.now())
            return reply(request, _(TWO_HOLDERS), 409)
        return _hand_in(request, fields, assignment)


def _accepted_with(secret: str) -> Assignment | None:
    return Assignment.objects.select_related("hit", "worker").filter(secret=secret).first()


def _secret_told(request: HttpRequest, fields: Fields) -> str:
    """Return the secret in a field named turkSubmitTo, or in the address of the page before."""
    try:
        before = parse_qs(urlsplit(request.headers.get("Referer", "")).query)
        for told in (fields, before):
            if found := SECRET.fullmatch(urlsplit(_one(told, "turkSubmitTo")).path):
                return found[1]
    except ValueError:
        pass  # what is no address holds no secret
    return ""


def _holders(request: HttpRequest, fields: Fields) -> list[Assignment]:
    """Return the acceptances that a form may be of, none to two, the last one first.

    A secret proves one. Without it the assignment's id names them: that of a place that was given
    up goes to its next holder, and then the worker's id, which neither knows of the other, tells
    them apart.
    """
    if secret := _secret_told(request, fields):
        found = _accepted_with(secret)
        return [found] if found else []
    assignment_id, worker_id = _one(fields, "assignmentId"), _one(fields, "workerId")
    if not ENTITY_ID.fullmatch(assignment_id):
        return []
    rows = Assignment.objects.select_related("hit", "worker").order_by("-pk")
    rows = rows.filter(assignment_id=assignment_id)
    holders = list(rows[:2])
    if len(holders) < 2 or not ENTITY_ID.fullmatch(worker_id):
        return holders
    # Who took the place twice works at it the second time.
    theirs = (
        Q(worker__worker_id=worker_id)
        | Q(worker__merged__worker_id=worker_id)
        | Q(worker__profile__mturk_id=worker_id)
    )
    return list(rows.filter(theirs)[:1])


def _one(fields: Mapping[str, list[str]], name: str) -> str:
    """Return the first value of a field that is not empty."""
    return next(filter(None, fields.get(name, [])), "")


def _fields_of(request: HttpRequest) -> Fields | None:
    """Return what a form sent, of a field in its body and in the address the body's values.

    None when it is more than can be read.
    """
    try:
        given = {**_query_of(request), **dict(request.POST.lists())}
    except (RequestDataTooBig, SuspiciousOperation):
        return None
    if not any(given.get("assignmentId", [])):
        given["assignmentId"] = request.GET.getlist("assignmentId")
    return {name: [str(value) for value in values] for name, values in given.items()}


def _query_of(request: HttpRequest) -> Fields:
    """Return the fields in the address, as `encodeURIComponent` or the older `escape` wrote them.

    `escape` writes %FC and %u4E2D, as jsPsych does up to version 6, and leaves a plus as it is.
    """
    query = request.META.get("QUERY_STRING", "")
    try:
        unquote_to_bytes(query).decode()
        is_escaped = re.search(r"%u[0-9a-fA-F]{4}", query) is not None
    except UnicodeDecodeError:
        is_escaped = True
    # Read in any case: raises where there are too many.
    read = {name: [str(value) for value in values] for name, values in request.GET.lists()}
    if not is_escaped:
        return read
    found: Fields = {}
    for pair in query.split("&"):
        name, _equals, value = pair.partition("=")
        found.setdefault(_unescaped(name), []).append(_unescaped(value))
    return found


def _unescaped(text: str) -> str:
    units = re.sub(
        "%u([0-9a-fA-F]{4})|%([0-9a-fA-F]{2})",
        lambda one: chr(int(one[1] or one[2], 16)),
        text,
    )
    # Two halves of one letter, such as an emoji's, are told one by one.
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _hand_in(
    request: HttpRequest, fields: Fields | None, assignment: Assignment | None
) -> HttpResponse:
    if fields is None:
        return _refused(request, _("The answer is too large to be handed in here."), 413)
    is_form = request.method == "POST" or (
        request.method == "GET" and "assignmentId" in request.GET
    )
    if not is_form:
        return reply(request, _("A finished HIT is sent to this address by its own page."), 405)
    if assignment is None:
        return _refused(request, _("This HIT is not known here."), 404)
    note(assignment=assignment_digest(assignment.assignment_id))
    if _one(fields, "assignmentId") != assignment.assignment_id:
        return _refused(request, _("This form belongs to a different HIT."), 400)
    if assignment.hit.question_kind == "form":
        question = read_question(assignment.hit.question)
        assert isinstance(question, FormQuestion)
        given, problems = answers_of(question.form, fields)
        if problems:
            return form_page(
                request, assignment.hit, assignment, 400, problems=problems, sent=fields
            )
        return _kept(request, assignment, form_answers_xml(given))
    if not any(name not in RESERVED for name in fields):
        return _refused(request, _("The form has no answer in it."), 400)
    return _kept(request, assignment, answers_xml(fields.items()))


def _kept(request: HttpRequest, assignment: Assignment, answer: str) -> HttpResponse:
    try:
        is_new = submit(assignment, answer, clock.now())
    except TooLateError as refusal:
        return reply(request, str(refusal), 409)
    if is_new:
        return reply(request, _("Submitted. Thank you."), 200)
    return reply(request, _("This HIT was submitted before. Thank you."), 200)


def _refused(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    return reply(request, f"{sentence} {_(NOTHING_LOST)}", status)


def reply(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    """Return the small page shown in the frame; it tells the page around it when all went well."""
    heading = _("Submitted") if status == 200 else _("Not submitted")
    context = {"heading": heading, "sentence": sentence, "is_submitted": status == 200}
    response = render(request, "marketplace/in_frame.html", context, status=status)
    return harden(response, frame_ancestors="'self'")
