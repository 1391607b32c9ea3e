"""What the desk's pages share: how they are drawn, notices, files out and in."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from common.spreadsheet import MOST_BYTES, UploadError, csv_text, text_of
from marketplace.configuration import currency_symbol, payment_terms
from marketplace.desk.sessions import DeskRequest
from marketplace.hits.contests import unanswered_contests
from marketplace.models import DeskSession, PaymentReport
from marketplace.operations.qualification_requests import open_requests
from marketplace.people.old_ids import called

PAGE_SIZE = 50
REST_OF_FORM_BYTES = 100_000


def show(request: DeskRequest, template: str, status: int = 200, **context: Any) -> HttpResponse:
    """Return a page of the desk; a waiting notice is shown and used up."""
    requester = request.desk.requester
    context["desk"] = request.desk
    context["says_pay"] = bool(not requester or requester.payment_terms or payment_terms())
    context["currency"] = currency_symbol()
    context["notice"] = _take_notice(request)
    # People who wait for an answer of the person at this desk, and who ask for a qualification.
    reports = PaymentReport.objects.filter(answered_at=None)
    context["n_waiting"] = (unanswered_contests(requester) if requester else reports).count()
    context["n_asked"] = open_requests(requester).count() if requester else 0
    # Asked for only by pages that name workers to a requester.
    context["old_ids"] = SimpleLazyObject(lambda: called(requester.pk) if requester else {})
    return render(request, f"desk/{template}", context, status=status)


def _take_notice(request: DeskRequest) -> str:
    notice = request.desk.session.notice
    if notice:
        leave_notice(request, "")
    return notice


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
