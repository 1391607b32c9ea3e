"""What requesters and the marketplace have written to a worker."""

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.models import Message
from marketplace.site.pages import SignedInRequest, show, worker_page

PAGE_SIZE = 25


@worker_page
@require_safe
def messages(request: SignedInRequest) -> HttpResponse:
    """Show the messages, newest first; those shown count as read from then on."""
    rows = Message.objects.filter(worker=request.worker).select_related("requester")
    page = Paginator(rows.order_by("-pk"), PAGE_SIZE).get_page(request.GET.get("page"))
    shown = [message.pk for message in page]
    response = show(request, "messages.html", here="messages", page=page)
    Message.objects.filter(pk__in=shown, read_at=None).update(read_at=clock.now())
    return response
