"""The one exception that ends a page of the site or the desk, and lookups that raise it."""

from typing import TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404

M = TypeVar("M", bound=Model)
T = TypeVar("T")


class PageError(Http404):
    """The visitor reads this sentence on the error page, in place of what cannot be had.

    sentence, heading: English; what workers read is marked for translation where it is written,
    and the error page translates it. An empty heading is "Not here".
    status: of the HTTP reply. allowed: methods to name in its Allow header.
    leads_back: whether the page links to the page that the form stood on.

    It is an Http404 so that Django hands it to the island's own handler wherever that is served,
    alone or in another project.
    """

    def __init__(
        self,
        sentence: str,
        status: int = 404,
        heading: str = "",
        allowed: str = "",
        leads_back: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.status, self.heading = sentence, status, heading
        self.allowed, self.leads_back = allowed, leads_back


def first_or_error(rows: QuerySet[M, T], sentence: str) -> T:
    """Return the first of these rows; raises PageError with this sentence where there is none."""
    found = rows.first()
    if found is None:
        raise PageError(sentence)
    return found
