"""What a worker prefers and says about themselves."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_POST

from common.visitors import safe_next_url
from marketplace.models import Worker
from marketplace.people.countries import is_country, is_subdivision
from marketplace.site.languages import CODES, LANGUAGES, remember
from marketplace.site.pages import SignedInRequest, leave_notice, show, worker_page
from marketplace.site.signing_in.sessions import session_of
from marketplace.web.pages import page

BOXES = ("accepts_next", "is_adult", "has_large_text")
CHOICES = {"language": ("", *CODES), "theme": ("", "light", "dark")}


@worker_page
def preferences(request: SignedInRequest) -> HttpResponse:
    """Show the worker's choices and keep changed ones; a field that is not sent stays as it is."""
    if request.method != "POST":
        return _preferences(request)
    worker = request.worker
    country = request.POST.get("country", worker.country).strip().upper()
    # One code for both is how lists have it: US-CA.
    country, _dash, part = country.partition("-")
    kept = worker.subdivision if country == worker.country else ""
    subdivision = request.POST.get("subdivision", kept).strip().upper()
    subdivision = part or subdivision.removeprefix(f"{country}-")
    if country and not is_country(country):
        problem = _("Write the country as two letters, like DE or US, or leave it empty.")
        return _preferences(request, 400, problem)
    if subdivision and not is_subdivision(country, subdivision):
        problem = _(
            "Write the state or region as its two letters or digits, like CA for California, "
            "beside its country, or leave it empty."
        )
        return _preferences(request, 400, problem)
    worker.country, worker.subdivision = country, subdivision
    # A box that is not ticked is not sent, so each form says which boxes it has.
    for box in BOXES:
        if box in request.POST.getlist("boxes"):
            setattr(worker, box, box in request.POST)
    for name, allowed in CHOICES.items():
        if (value := request.POST.get(name)) in allowed:
            setattr(worker, name, value)
    worker.save(update_fields=["country", "subdivision", *BOXES, *CHOICES])
    if "quietly" in request.POST:
        return HttpResponse(status=204)
    with override(worker.language or None):
        leave_notice(request, _("Your preferences are kept."))
    return redirect("preferences")


def _preferences(request: SignedInRequest, status: int = 200, problem: str = "") -> HttpResponse:
    context = {"here": "preferences", "problem": problem, "languages": LANGUAGES}
    return show(request, "preferences.html", status=status, **context)


@page
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Change the language of the site for this browser, and for the worker who is signed in."""
    response = redirect(safe_next_url(request, "home"))
    code = request.POST.get("language", "")
    if code in CODES:
        remember(response, code, secure=request.is_secure())
        if session := session_of(request):
            Worker.objects.filter(pk=session.worker_id).update(language=code)
    return response
