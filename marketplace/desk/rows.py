"""One row of a batch as a worker would see it, in a frame that belongs to nobody."""

from django.http import HttpResponse
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from marketplace.batches.publishing import page_of_row
from marketplace.crowd_elements import with_own_elements
from marketplace.desk.access import DeskRequest, requester_page
from marketplace.desk.batches import NO_BATCH, own_batch
from marketplace.desk.pages import sorry

# The page belongs to no origin, whoever opens it, and its form goes nowhere.
POLICY = (
    "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox; "
    "default-src * data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'none'; "
    "frame-ancestors 'self'"
)


@requester_page
@require_safe
def row_page(request: DeskRequest, key: int, position: int) -> HttpResponse:
    """Return the page of one row, sandboxed as in the worker's frame; it submits nowhere."""
    found = own_batch(request, key)
    row = found.rows.filter(position=position).first() if found else None
    if found is None or row is None:
        return sorry(request, NO_BATCH)
    html = with_own_elements(page_of_row(found, row), static("marketplace/crowd.js"))
    response = HttpResponse(html)
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    return response
