"""What lists share: order, decisions about several rows, rows as CSV, bars of parts of a whole."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header

from common.actions import ActionError
from common.spreadsheet import csv_text

CSV = "csv"
# What is read at once of a list that is taken away.
AT_ONCE = 500

Row = TypeVar("Row", bound=Model)


class ListQuery:
    """What an address asks of a list: which of it (`show`), the words sought, its order, its page.

    orders: each by its name in the address, its words first; "" is the usual one. shows: the names
    of the parts that can be shown. own: further names that the list has in its address.
    """

    def __init__(
        self,
        query: Mapping[str, str],
        orders: Mapping[str, tuple[str, Any]],
        shows: Container[str] = (),
        *own: str,
    ) -> None:
        self.orders, self.page_number = orders, query.get("page")
        self.show = show if (show := query.get("show", "")) in shows else ""
        self.sought = query.get("q", "").strip()
        self.sort = sort if (sort := query.get("sort", "")) in orders else ""
        self.own = {name: query.get(name, "") for name in own}

    @property
    def is_narrowed(self) -> bool:
        """Return whether something is looked for."""
        return bool(self.sought or any(self.own.values()))

    def address(self, **changed: str) -> str:
        """Return the query string of this list with something `changed`."""
        values = {"show": self.show, "q": self.sought, **self.own, "sort": self.sort, **changed}
        return urlencode({name: value for name, value in values.items() if value})

    def page(self, rows: Sequence[Any] | QuerySet[Any], per_page: int) -> dict[str, Any]:
        """Return the page that is asked for, and what its template says of the whole list."""
        address = self.address()
        return {
            "page": Paginator(rows, per_page).get_page(self.page_number),
            "show": self.show,
            "sought": self.sought,
            "sort": self.sort,
            "sorts": sorts_of(self.orders),
            "address": address,
            "query": f"{address}&" if address else "",
            "own": self.own,
        }


def sorts_of(orders: Mapping[str, tuple[str, Any]]) -> list[tuple[str, str]]:
    """Return (name, words) of the orders that a list offers."""
    return [(name, words) for name, (words, _) in orders.items()]


def decide_each(
    request: HttpRequest, rows: Iterable[Row], decide: Callable[[Row], object], done_words: str
) -> None:
    """Decide about each ticked row, and say of how many it was done, and why not of the others."""
    done, refused = 0, Counter[str]()
    for row in rows:
        try:
            decide(row)
            done += 1
        except ActionError as error:
            refused[error.on_page] += 1
    if done:
        messages.success(request, f"Done for {done}. {done_words}")
    for sentence, n in refused.items():
        messages.error(request, f"Not done for {n}. {sentence}")
    if not done and not refused:
        messages.error(request, "Tick something in the list, then press a button below it.")


def asks_for_csv(request: HttpRequest) -> bool:
    """Return whether the address asks for the list as a file."""
    return request.GET.get("as") == CSV


def csv_of(name: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> HttpResponse:
    """Return the rows under the columns' names as the file NAME.csv."""
    named = content_disposition_header(True, f"{name}.{CSV}") or ""
    headers = {"Content-Disposition": named}
    return HttpResponse(csv_text([columns, *rows]), "text/csv; charset=utf-8", headers=headers)


def read_in_parts(rows: QuerySet[Row]) -> Iterator[list[Row]]:
    """Yield the rows in lists, so that what belongs to them is read with few queries."""
    found = rows.iterator(chunk_size=AT_ONCE)
    while part := list(islice(found, AT_ONCE)):
        yield part


@dataclass(frozen=True)
class Segment:
    """One part: `x` and `width` are per cent of the bar, `name` its class and its legend."""

    name: str
    x: float
    width: float


def segments(parts: Iterable[tuple[str, int]], whole: int) -> list[Segment]:
    """Return the parts side by side, within 0 and 100 per cent; empty parts are left out."""
    whole = max(whole, 1)
    found, x = [], 0.0
    for name, amount in parts:
        width = min(max(amount, 0) * 100 / whole, 100 - x)
        if width > 0:
            found.append(Segment(name, round(x, 2), round(width, 2)))
            x += width
    return found
