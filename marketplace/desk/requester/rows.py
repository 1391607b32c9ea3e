"""One row of a batch as a worker would see it, in a frame that belongs to nobody."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace.batches.publishing import page_of_row
from marketplace.desk.access import DeskRequest, requester_page
from marketplace.desk.pages import sorry
from marketplace.desk.requester.batches import NO_BATCH, own_batch
from marketplace.site.assignments.question_pages import framed


@requester_page
@require_safe
def row_page(request: DeskRequest, key: int, position: int) -> HttpResponse:
    """Return the page of one row, just as in the worker's frame; it submits nowhere."""
    found = own_batch(request, key)
    row = found.rows.filter(position=position).first() if found else None
    if found is None or row is None:
        return sorry(request, NO_BATCH)
    return framed(page_of_row(found, row))
