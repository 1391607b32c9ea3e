"""The pages of HITs that are kept here: requesters' own HTML, without an origin, and forms."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.configuration import base_url
from marketplace.hits.questions.question import FormQuestion, page_in, read_question
from marketplace.models import HIT, Assignment
from marketplace.people.qualifications.requirements import access_to, record_of
from marketplace.site.languages import language_active
from marketplace.site.pages import SignedInRequest, worker_page
from marketplace.web.pages import framed, harden


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
