"""One collection on the requester's pages: found by its address, shown under its tabs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.dashboard.access import requester_required
from annotation.protocols.contracts import DifficultyTable
from annotation.reports.attention import decisions_waiting, problems_open, submissions_waiting
from annotation.splits.single_hop_review import undecided
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import Parameters
from collector.seeds.selection import is_curated
from common.sent_form import check_seen
from tasks.pages.wording import price

View = Callable[..., HttpResponseBase]
TABS = {
    "collection": "Overview",
    "seeds": "Seeds",
    "people": "People",
    "qualifications": "Qualification",
    "questions": "Questions",
    "difficulty": "Difficulty",
    "money": "Money",
    "problems": "Problems",
    "texts": "Instructions and consent",
    "releases": "Releases",
}


@dataclass(frozen=True)
class CollectionContext:
    """A collection with its own typed parameters."""

    collection: Collection
    parameters: Parameters

    @property
    def difficulty(self) -> DifficultyTable | None:
        """Return how difficulty is judged, None where the protocol does not."""
        table = getattr(self.parameters, "difficulty", None)
        return table if isinstance(table, DifficultyTable) else None

    def price(self, cents: int) -> str:
        """Return an amount of the collection's currency for people to read."""
        return price(cents, self.parameters)

    def url(self, page: str, /, **kwargs: object) -> str:
        """Return the address of one of the collection's pages."""
        return reverse(page, kwargs={"slug": self.collection.slug, **kwargs})

    @contextmanager
    def unchanged(self, request: HttpRequest, version: Callable[[], str]) -> Iterator[None]:
        """Store a form in one transaction, unless it was shown at another version than now.

        version: read again under the collection's lock. Raises OutOfDateError.
        """
        with transaction.atomic():
            Collection.objects.select_for_update(no_key=True).get(pk=self.collection.pk)
            check_seen(request.POST, version())
            yield

    def tabs(self) -> list[dict[str, Any]]:
        """Return the collection's pages, with how much waits there for a person; eight queries.

        Two more where difficulty is judged.
        """
        waiting = {
            "qualifications": submissions_waiting(self.collection),
            "problems": problems_open(self.collection),
            "money": decisions_waiting(self.collection),
        }
        names = dict(TABS)
        if self.difficulty is None:
            del names["difficulty"]
        else:
            waiting["difficulty"] = len(undecided(self.collection))
        return [
            {
                "name": name,
                "label": label,
                "url": self.url(name),
                "waiting": waiting.get(name, 0),
            }
            for name, label in names.items()
        ]

    def render(
        self, request: HttpRequest, template: str, *, status: int = 200, **context: Any
    ) -> HttpResponse:
        """Return the page `template` of the collection."""
        shown = {
            "collection": self.collection,
            "parameters": self.parameters,
            "tabs": self.tabs(),
            **context,
        }
        return render(request, f"dashboard/{template}", shown, status=status)


def collection_page(view: View) -> View:
    """Give a requester's view the CollectionContext that its address names, else 404.

    A collection that this installation cannot read is shown with the reason and what to do.
    """

    @requester_required
    @wraps(view)
    def opened(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
        rows = Collection.objects.select_related("corpus")
        collection = get_object_or_404(rows, slug=slug)
        try:
            context = CollectionContext(collection, parameters_of(collection))
        except ProtocolError as error:
            shown = {"collection": collection, "sentence": str(error)}
            return render(request, "dashboard/collections/unreadable.html", shown, status=409)
        return view(request, context, **kwargs)

    return opened


def curated_collection_page(view: View) -> View:
    """Make a view a `collection_page`; 404 where seeds are not drawn from candidate sets."""

    @collection_page
    @wraps(view)
    def opened(request: HttpRequest, context: CollectionContext, **kwargs: Any) -> HttpResponseBase:
        if not is_curated(context.collection):
            raise Http404
        return view(request, context, **kwargs)

    return opened
