"""The report: what a collection has brought, and how a system's predictions do beside people."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

from annotation.dashboard.access import knows
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.metrics.result import ScoreError
from annotation.protocols.contracts import REPORT
from annotation.tables.charts import has_chart
from annotation.tables.table import are_figures
from collector.protocols.loading import get_protocol
from common.long_bodies import long_bodies_from

if TYPE_CHECKING:
    from annotation.tables.table import Table

PREDICTED = "predicted"
# Predictions for a hundred thousand questions take a fifth of it.
MAX_BYTES = 100_000_000
# A table with more columns takes the whole width of the page.
WIDE = 5


@long_bodies_from(knows)
@collection_page
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the protocol's own tables, or how the predictions handed in do; these are not kept."""
    from annotation.reports.collection import tables_of

    protocol = get_protocol(context.collection.protocol)
    takes = protocol.has(REPORT, PREDICTED)
    shown: dict[str, Any] = {"takes_predictions": takes}
    given = request.FILES.get("predictions") if takes else None
    if request.method == "POST":
        try:
            tables = _predicted(context, given)
            shown["name"] = given.name if given else ""
        except ScoreError as error:
            shown["problem"] = str(error)
    if "name" not in shown:
        tables = tables_of(context.collection)
    # A table without rows says what fills it; where there is nothing at all, the page does.
    begun = any(table.rows or table.simulated for table in tables)
    told = [table for table in tables if begun and (table.rows or table.simulated or table.note)]
    return context.render(
        request,
        "releases/report.html",
        tab="releases",
        tables=[drawn(table) for table in told],
        # Tables of predictions that were handed in are not kept, so there is no file of them.
        files_of="" if "name" in shown else context.collection.slug,
        status=422 if "problem" in shown else 200,
        **shown,
    )


@collection_page
@require_safe
def report_file(request: HttpRequest, context: CollectionContext, file: str) -> HttpResponse:
    """Hand out one table of the report: NAME.csv, or its shares drawn, NAME.svg."""
    from annotation.reports.collection import tables_of
    from annotation.tables.charts import files_of

    wanted = file.rpartition(".")[0]
    tables = [table for table in tables_of(context.collection) if table.name == wanted]
    content = dict(files_of(tables)).get(file)
    if content is None:
        raise Http404
    kind = "image/svg+xml" if file.endswith(".svg") else "text/csv; charset=utf-8"
    named = f"{context.collection.slug}-{file}"
    headers = {"Content-Disposition": content_disposition_header(True, named) or ""}
    return HttpResponse(content, content_type=kind, headers=headers)


def _predicted(context: CollectionContext, given: UploadedFile | None) -> "list[Table]":
    """Return the tables of predictions handed in; raises ScoreError naming their file."""
    from annotation.reports.collection import tables_of_predictions

    if given is None:
        raise ScoreError("Choose a file with predictions in the official layout.")
    if (given.size or 0) > MAX_BYTES:
        raise ScoreError(f"{given.name}: it is too large; give at most {MAX_BYTES // 10**6} MB.")
    with TemporaryDirectory() as folder:
        path = Path(folder, "predictions")
        with path.open("wb") as file:
            file.writelines(given.chunks())
        try:
            tables = tables_of_predictions(context.collection, path)
        except ScoreError as error:
            raise ScoreError(str(error).replace(str(path), str(given.name))) from None
    notes = "".join(table.note for table in tables if not table.rows)
    if not any(table.rows for table in tables):
        raise ScoreError(f"{given.name}: {notes or 'there is nothing in it to score.'}")
    return tables


class _Column:
    """A column of a report's table: words or figures, and whether shares are drawn in it."""

    def __init__(self, table: "Table", at: int, texts: list[str]) -> None:
        self.name, self.is_shaded = table.columns[at], table.is_shaded(at)
        self.has_bars = table.is_share(at) and not self.is_shaded
        self.has_figures = self.is_shaded or are_figures(texts)

    def filled(self, cell: object) -> float | None:
        """Return the share to draw, from 0 to 1, None where none is."""
        if not isinstance(cell, float) or not (self.is_shaded or self.has_bars):
            return None
        return round(min(max(cell, 0.0), 1.0), 4)


def drawn(table: "Table") -> dict[str, Any]:
    """Return a report's table with what each column holds and how much of it each cell fills."""
    texts = table.texts()
    columns = [_Column(table, at, [row[at] for row in texts]) for at in range(len(table.columns))]
    return {
        "name": table.name,
        "has_chart": has_chart(table),
        "title": table.title,
        "note": table.note,
        "simulated": table.simulated,
        "flow": table.flow,
        "named": table.named,
        "columns": columns,
        "is_wide": len(columns) > WIDE,
        "rows": [
            [
                (column, words, column.filled(cell))
                for column, words, cell in zip(columns, row, cells, strict=True)
            ]
            for row, cells in zip(texts, table.rows, strict=True)
        ],
    }
