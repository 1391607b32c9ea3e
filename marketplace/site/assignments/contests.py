"""A worker's word against a rejection, from the page of the work it is about."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.hits.contests import ContestError, raise_contest
from marketplace.models import State
from marketplace.site.assignments.work import own_assignment, receipt
from marketplace.site.pages import SignedInRequest, leave_notice, worker_page


@worker_page
@require_POST
def contest(request: SignedInRequest, key: int) -> HttpResponse:
    """Contest the rejection of one's own work; what is refused keeps what was written."""
    assignment = own_assignment(request, key)
    text = request.POST.get("text", "")
    try:
        raise_contest(assignment, text, clock.now())
    except ContestError as refusal:
        if assignment.state != State.REJECTED:
            leave_notice(request, str(refusal))
            return redirect("submitted", key=key)
        return receipt(request, assignment, 400, problem=str(refusal), text=text)
    leave_notice(request, _("Your word against the rejection was sent."))
    return redirect("submitted", key=key)
