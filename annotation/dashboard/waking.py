"""What a requester does to a collection is looked after at once."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from collector.models import Collection
from tasks.lifecycle import due_work


class WakingMiddleware:
    """Has the jobs look at a collection after whatever was posted to one of its pages."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, then wake the collection that the address names."""
        answer = self.get_response(request)
        place = request.resolver_match
        if request.method == "POST" and place and "slug" in place.kwargs:
            found = Collection.objects.filter(slug=place.kwargs["slug"]).values_list("pk").first()
            if found:
                due_work.wake(*found)
        return answer
