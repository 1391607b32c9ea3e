"""Signing in at the desk by name and password, signing out, and choosing another password."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from common.visitors import safe_next_url
from marketplace import clock
from marketplace.desk.access import desk_page, is_open_desk, record
from marketplace.desk.pages import leave_notice, show
from marketplace.desk.sessions import DeskRequest, begin, end, end_all
from marketplace.desk.users import password_problem
from marketplace.models import DeskUser
from marketplace.site.signing_in.sign_in_limits import signed_in, try_name
from marketplace.web.pages import page

WRONG = "This name and password do not belong together. Check both and try again."
TOO_MANY = "Too many tries. Wait a quarter of an hour and try again."


@page
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for name and password, then go where one wanted to; guessing becomes slow."""
    if request.method != "POST":
        return _door(request, "", 200)
    now, name = clock.now(), request.POST.get("name", "").strip()[:80]
    if try_name(request, f"desk:{name}", now):
        return _door(request, TOO_MANY, 429)
    user = DeskUser.objects.filter(name=name, is_active=True).exclude(password="").first()
    # An unknown name takes as long as a wrong password.
    if not (user or DeskUser()).has_password(request.POST.get("password", "")) or user is None:
        return _door(request, WRONG, 403)
    response = redirect(safe_next_url(request, "desk-home", under="/desk/"))
    signed_in(request, response, f"desk:{name}")
    begin(request, response, user)
    return response


def _door(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    context = {
        "problem": problem,
        "name": request.POST.get("name", "")[:80],
        "next": request.POST.get("next") or request.GET.get("next", ""),
        "is_open": is_open_desk(request),
        "is_new": not DeskUser.objects.exists(),
    }
    return render(request, "desk/sign_in.html", context, status=status)


@page
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this browser's session at the desk."""
    response = redirect("desk-sign-in")
    end(request, response)
    return response


@desk_page
def home(request: DeskRequest) -> HttpResponse:
    """Go to the first page of whoever sits at the desk."""
    return redirect("desk-requesters" if request.desk.requester is None else "desk-projects")


@desk_page
def password(request: DeskRequest) -> HttpResponse:
    """Choose another password; every other browser is signed out."""
    user = request.desk.user
    if request.method != "POST":
        return show(request, "password.html", here="password")
    problem = ""
    if user.password and not user.has_password(request.POST.get("old", "")):
        problem = "That is not your present password. Try again."
    new = request.POST.get("new", "")
    problem = problem or password_problem(user.name, new)
    if problem:
        return show(request, "password.html", status=400, here="password", problem=problem)
    user.set_password(new)
    user.save(update_fields=["password"])
    end_all(user, but=request.desk.session)
    record(request, f"Changed the password of {user.name}")
    leave_notice(request, "Your new password is kept. Other browsers are signed out.")
    return redirect("desk-home")
