"""What the desk's pages share: who may open them, how they are drawn, notices, files, forms."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.functional import SimpleLazyObject

from common.sent_form import OutOfDateError, check_seen, version_of
from common.spreadsheet import MOST_BYTES, UploadError, csv_text, text_of
from common.visitors import is_from_this_machine
from marketplace import clock
from marketplace.configuration import currency_symbol, open_desk, payment_terms, session_lifetime
from marketplace.hits.acceptance import unanswered_contests
from marketplace.models import AuditEntry, DeskSession, DeskUser, PaymentReport, Requester, Role
from marketplace.models.identifiers import digest, new_secret
from marketplace.operations.qualifications import open_requests
from marketplace.people.accounts import old_ids_of
from marketplace.web.pages import PageError, View, keep_token, page

COOKIE = "marketplace_desk"
PATH = "/desk/"


def session_of(request: HttpRequest) -> DeskSession | None:
    """Return the live desk session of this browser, user and requester loaded, or None."""
    token = request.COOKIES.get(COOKIE)
    if not token:
        return None
    return (
        DeskSession.objects.select_related("user__requester", "acting_for")
        .filter(token_digest=digest(token), expires_at__gt=clock.now(), user__is_active=True)
        .first()
    )


def begin(request: HttpRequest, response: HttpResponse, user: DeskUser) -> DeskSession:
    """Sign `user` in: a new session in the table, its token in the response's cookie."""
    if token := request.COOKIES.get(COOKIE):
        DeskSession.objects.filter(token_digest=digest(token)).delete()
    token, now = new_secret(), clock.now()
    session = DeskSession.objects.create(
        user=user, token_digest=digest(token), created_at=now, expires_at=now + session_lifetime()
    )
    keep_token(request, response, COOKIE, token, PATH)
    return session


def end(request: HttpRequest, response: HttpResponse) -> None:
    """Sign this browser out of the desk, if it was in."""
    if token := request.COOKIES.get(COOKIE):
        DeskSession.objects.filter(token_digest=digest(token)).delete()
    response.delete_cookie(COOKIE, path=PATH, samesite="Lax")


def end_all(user: DeskUser, but: DeskSession | None = None) -> None:
    """Sign a user out everywhere, except in the session `but`."""
    DeskSession.objects.filter(user=user).exclude(pk=but.pk if but else 0).delete()


@dataclass(frozen=True)
class Desk:
    """The signed-in desk user, their session, and the requester whose desk is open, if any."""

    user: DeskUser
    session: DeskSession

    @property
    def is_host(self) -> bool:
        """Return whether the host's own pages are theirs."""
        return self.user.role == Role.HOST

    @property
    def requester(self) -> Requester | None:
        """Return the requester whose desk is open."""
        return self.session.acting_for if self.is_host else self.user.requester

    @property
    def who(self) -> str:
        """Return the name that the audit log keeps."""
        if self.is_host and self.session.acting_for:
            return f"{self.user.name}, for {self.session.acting_for.name}"
        return self.user.name


class DeskRequest(HttpRequest):
    """A request as `desk_page` hands it on; `requester` is set on a requester's pages alone."""

    desk: Desk
    requester: Requester


PAGE_SIZE = 50
REST_OF_FORM_BYTES = 100_000


def show(request: DeskRequest, template: str, status: int = 200, **context: Any) -> HttpResponse:
    """Return a page of the desk; a waiting notice is shown and used up."""
    requester = request.desk.requester
    context["desk"] = request.desk
    context["says_pay"] = bool(not requester or requester.payment_terms or payment_terms())
    context["currency"] = currency_symbol()
    notice = request.desk.session.notice
    if notice:
        leave_notice(request, "")
    context["notice"] = notice
    # People who wait for an answer of the person at this desk, and who ask for a qualification.
    reports = PaymentReport.objects.filter(answered_at=None)
    context["n_waiting"] = (unanswered_contests(requester) if requester else reports).count()
    context["n_asked"] = open_requests(requester).count() if requester else 0
    # Asked for only by pages that name workers to a requester.
    context["old_ids"] = SimpleLazyObject(lambda: old_ids_of(requester.pk) if requester else {})
    return render(request, f"desk/{template}", context, status=status)


def leave_notice(request: DeskRequest, sentence: str) -> None:
    """Keep one sentence for the visitor's next page, unless the session has been ended since."""
    session = request.desk.session
    session.notice = sentence[:500]
    DeskSession.objects.filter(pk=session.pk).update(notice=session.notice)


def page_of(request: DeskRequest, rows: QuerySet[Any]) -> Page[Any]:
    """Return the page of rows that `?page=` asks for."""
    return Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))


def csv_file(name: str, header: list[str], rows: Iterable[Iterable[Any]]) -> HttpResponse:
    """Return a CSV to download; a byte order mark makes spreadsheets read it as UTF-8."""
    text = "\ufeff" + csv_text([header, *rows])
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def text_to_carry(request: DeskRequest) -> str:
    """Return the uploaded text, if the page that asks for the last word can send it back.

    Raises UploadError as `text_from` does, and when it is too much for a form.
    """
    text = text_from(request)
    most = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or MOST_BYTES) - REST_OF_FORM_BYTES
    if len(text.encode()) > most:
        raise UploadError(
            f"The file is larger than {most // 1_000_000} MB. Split it and upload the parts one "
            "after the other."
        )
    return text


def text_from(request: DeskRequest, field: str = "file") -> str:
    """Return the uploaded text, or what a hidden field of the page before carries.

    Raises UploadError when neither is there, or the file cannot be read.
    """
    given = request.FILES.get(field)
    if given is not None:
        return text_of(given.read())
    if carried := request.POST.get("carried", ""):
        return carried
    raise UploadError("Choose a file first.")


Arguments = ParamSpec("Arguments")
OWNER = "host"
HOSTS_ONLY = "Only the host of the marketplace can open this page."
CHOOSE_FIRST = "This page belongs to a requester. Choose one below to act for it."


DeskView = Callable[Concatenate[DeskRequest, Arguments], HttpResponse]


def record(request: DeskRequest, what: str) -> None:
    """Write a change of this visitor's into the audit log."""
    AuditEntry.record(request.desk.who, what, clock.now())


def desk_page(view: DeskView[Arguments]) -> View[Arguments]:
    """Make a view a page for anybody signed in at the desk; others are asked who they are."""

    @wraps(view)
    def signed_in(
        request: HttpRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        session = session_of(request)
        if session is None and not is_open_desk(request):
            back = {"next": request.get_full_path()} if request.method == "GET" else {}
            return redirect(reverse("desk-sign-in") + ("?" + urlencode(back) if back else ""))
        if session is None:
            # The visitor's cookie is set on the way out; this reply is theirs already.
            response = HttpResponse()
            session = begin(request, response, owner())
            reply = _as(view, session, request, *args, **kwargs)
            reply.cookies.update(response.cookies)
            return reply
        return _as(view, session, request, *args, **kwargs)

    return page(signed_in)


def _as(
    view: DeskView[Arguments],
    session: DeskSession,
    request: HttpRequest,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> HttpResponse:
    request.desk = Desk(session.user, session)  # type: ignore[attr-defined]
    # The desk speaks English; only the worker's site is translated.
    with translation.override("en"):
        return view(request, *args, **kwargs)  # type: ignore[arg-type]


def host_page(view: DeskView[Arguments]) -> View[Arguments]:
    """Make a view a page for the host alone."""

    @wraps(view)
    def guarded(
        request: DeskRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        if not request.desk.is_host:
            raise PageError(HOSTS_ONLY, 403)
        return view(request, *args, **kwargs)

    return desk_page(guarded)


def requester_page(view: DeskView[Arguments]) -> View[Arguments]:
    """Make a view a page of one requester: their people's, or the host's who opened their desk."""

    @wraps(view)
    def guarded(
        request: DeskRequest, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> HttpResponse:
        if request.desk.requester is None:
            leave_notice(request, CHOOSE_FIRST)
            return redirect("desk-requesters")
        request.requester = request.desk.requester
        return view(request, *args, **kwargs)

    return desk_page(guarded)


def knows(request: HttpRequest, **names: object) -> bool:
    """Return whether somebody signed in at the desk sends this, whose body is not read yet."""
    return is_open_desk(request) or session_of(request) is not None


def is_open_desk(request: HttpRequest) -> bool:
    """Return whether the desk opens without a password: allowed, and asked from this machine."""
    return bool(open_desk()) and is_from_this_machine(request)


def owner() -> DeskUser:
    """Return the host of an open desk, made on first use; nobody signs in to it by password."""
    user, _ = DeskUser.objects.get_or_create(
        name=OWNER, defaults={"role": Role.HOST, "created_at": clock.now()}
    )
    return user


LONGEST_STORED = 200


class SeenForm(forms.Form):
    """Its page carries `seen`; what is stored is `initial`, empty where nothing is stored yet."""

    @property
    def seen(self) -> str:
        """Return the version of what is stored now."""
        return version_of(self.initial)

    def clean(self) -> dict[str, Any]:
        """Refuse a form out of date, unless what it would store is there already."""
        if self.initial and self.changed_data:
            try:
                check_seen(self.data, self.seen)
            except OutOfDateError as error:
                self.add_error(None, str(error))
                for name in self.changed_data:
                    self.add_error(name, f"Stored now: {self._stored(name)[:LONGEST_STORED]}")
        return self.cleaned_data

    def _stored(self, name: str) -> str:
        stored, words = self.initial.get(name), dict(getattr(self.fields[name], "choices", ()))
        if isinstance(stored, bool):
            return "yes" if stored else "no"
        values = stored if isinstance(stored, list) else [stored]
        return ", ".join(str(words.get(one, one)) for one in values if one != "") or "nothing"
