"""What a requester does to a collection is looked after at once."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from collector.models import Collection
from tasks.work import due_work

View = Callable[..., HttpResponseBase]


def leaves_alone(view: View) -> View:
    """Mark a view that changes nothing of the collection it names, whatever is posted to it."""
    view.wakes = False  # type: ignore[attr-defined]
    return view


class WakingMiddleware:
    """Has the jobs look at a collection after whatever was posted to one of its pages.

    Not where the page leaves the collection alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, then wake the collection that the address names."""
        answer = self.get_response(request)
        place = request.resolver_match
        wakes = place is not None and getattr(place.func, "wakes", True)
        if request.method == "POST" and place and wakes and "slug" in place.kwargs:
            found = Collection.objects.filter(slug=place.kwargs["slug"]).values_list("pk").first()
            if found:
                due_work.wake(*found)
        return answer
