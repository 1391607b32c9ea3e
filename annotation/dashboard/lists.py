"""Lists of the requester's pages: the order that an address asks for, and their rows as CSV."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

from common.spreadsheet import csv_lines

CSV = "csv"


def order_of(query: Mapping[str, str], orders: Mapping[str, object]) -> str:
    """Return the name of the order that an address asks for; "", the usual one, for no other."""
    wanted = query.get("sort", "")
    return wanted if wanted in orders else ""


def asks_for_csv(request: HttpRequest) -> bool:
    """Return whether the address asks for the list as a file."""
    return request.GET.get("as") == CSV


def csv_of(
    name: str, columns: Sequence[str], rows: Iterable[Iterable[object]]
) -> StreamingHttpResponse:
    """Return the rows under the columns' names as the file NAME.csv."""

    def lines() -> Iterator[str]:
        yield from csv_lines([columns])
        yield from csv_lines(rows)

    named = content_disposition_header(True, f"{name}.{CSV}") or ""
    return StreamingHttpResponse(
        lines(), content_type="text/csv; charset=utf-8", headers={"Content-Disposition": named}
    )
