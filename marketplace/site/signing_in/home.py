"""The root address: the requester API for POST, the front door for everybody else."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt

from marketplace.site.signing_in.sessions import session_of
from marketplace.site.signing_in.sign_in import sign_in_page
from marketplace.web.pages import page
from marketplace.wire.view import confirm_by_link, requester_api


@csrf_exempt
def home(request: HttpRequest) -> HttpResponse:
    """Answer a requester's client, whose requests are signed, or show the front door."""
    if request.method == "POST":
        return requester_api(request)
    if request.GET.get("Action") == "ConfirmSubscription":
        return confirm_by_link(request)
    return front_door(request)


@page
def front_door(request: HttpRequest) -> HttpResponse:
    """Show how to sign in, or go to the HITs if that is done."""
    if session_of(request) is not None:
        return redirect("available")
    return sign_in_page(request, "")
