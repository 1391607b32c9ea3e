"""The service's own addresses, as clients print them: each leads to the HIT that it names."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.site.hits.available import groups_for
from marketplace.site.pages import SignedInRequest, worker_page
from marketplace.web.pages import page


@page
@require_safe
def preview(request: HttpRequest) -> HttpResponse:
    """Lead from `/mturk/preview?groupId=…` (or `hitId`) to the preview; nothing is accepted."""
    if hit_id := _id(request, "hitId"):
        return redirect("preview", hit_id=hit_id)
    if group_id := _id(request, "groupId"):
        return redirect("preview-any", hit_type_id=group_id)
    return redirect("available")


def _id(request: HttpRequest, name: str) -> str:
    value = request.GET.get(name, "")
    return value if value.isascii() and value.isalnum() else ""


@page
@require_safe
def tasks(request: HttpRequest, group_id: str, hit_id: str = "") -> HttpResponse:
    """Lead from `/projects/<group>/tasks…` to the preview; `accept_random` accepts nothing."""
    if hit_id and hit_id != "accept_random":
        return redirect("preview", hit_id=hit_id)
    return redirect("preview-any", hit_type_id=group_id)


@page
@require_safe
def projects(request: HttpRequest) -> HttpResponse:
    """Lead from `/projects/` to the list."""
    return redirect("available")


@worker_page
@require_safe
def search(request: SignedInRequest) -> HttpResponse:
    """Lead from `/mturk/searchbar?searchWords=…` to the one kind of HIT found, else to the list."""
    words = request.GET.get("searchWords", "").casefold().split()
    kinds = [group.kind for group in groups_for(request.worker, clock.now())]
    found = [
        kind.hit_type_id
        for kind in kinds
        if words
        and all(
            word in f"{kind.title} {kind.keywords} {kind.requester.name}".casefold()
            for word in words
        )
    ]
    if len(found) == 1:
        return redirect("preview-any", hit_type_id=found[0])
    return redirect("available")
