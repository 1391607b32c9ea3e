"""What a worker prefers and says about themselves."""

from django.http import HttpResponse
from django.shortcuts import redirect

from marketplace.site.pages import SignedInRequest, leave_notice, show, worker_page


@worker_page
def preferences(request: SignedInRequest) -> HttpResponse:
    """Show the worker's choices and keep changed ones; a field that is not sent stays as it is."""
    if request.method != "POST":
        return show(request, "preferences.html", here="preferences", problem="")
    worker = request.worker
    country = request.POST.get("country", worker.country).strip().upper()
    if country and not (len(country) == 2 and country.isascii() and country.isalpha()):
        problem = "Write the country as two letters, like DE or US, or leave it empty."
        return show(request, "preferences.html", status=400, here="preferences", problem=problem)
    worker.country = country
    # A box that is not ticked is not sent, so each form says which boxes it has.
    for box in ("accepts_next", "is_adult"):
        if box in request.POST.getlist("boxes"):
            setattr(worker, box, box in request.POST)
    worker.save(update_fields=["country", "accepts_next", "is_adult"])
    if "quietly" in request.POST:
        return HttpResponse(status=204)
    leave_notice(request, "Your preferences are kept.")
    return redirect("preferences")
