"""One row of a batch as a worker would see it, in a frame that belongs to nobody."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace.batches.publishing import page_of_row
from marketplace.desk.access import requester_page
from marketplace.desk.requester.batches import NO_BATCH, own_batch
from marketplace.desk.visitor import DeskRequest
from marketplace.page_error import first_or_error
from marketplace.site.assignments.question_pages import framed


@requester_page
@require_safe
def row_page(request: DeskRequest, key: int, position: int) -> HttpResponse:
    """Return the page of one row, just as in the worker's frame; it submits nowhere."""
    found = own_batch(request, key)
    row = first_or_error(found.rows.filter(position=position), NO_BATCH)
    return framed(page_of_row(found, row))
