"""The host's pages of payments: what is owed, lists out, confirmations back, workers' reports."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from common.long_bodies import long_bodies_from
from common.spreadsheet import UploadError
from marketplace import clock
from marketplace.amounts import price_of
from marketplace.configuration import currency, currency_symbol
from marketplace.hits.lifecycle import settle_due
from marketplace.models import PaymentReport, PayoutLine, PayoutList
from marketplace.money.payout_files import n_without_way, parts_of, payout_csv
from marketplace.money.payouts import (
    COLUMNS,
    OPEN,
    TOTALS,
    PayoutError,
    answer_report,
    confirm,
    make_list,
    owed_by_worker,
    remove_line,
    rows_of,
    totals,
)
from marketplace.web.desk_pages import (
    DeskRequest,
    csv_file,
    host_page,
    knows,
    leave_notice,
    page_of,
    record,
    show,
    text_from,
)
from marketplace.web.pages import PageError, first_or_error

NO_CURRENCY = (
    "Nobody has said which currency this is: whoever runs the server sets MARKETPLACE_CURRENCY "
    "to its three letters, like EUR."
)
NO_LIST = "There is no such list. Choose one under Payouts."


@host_page
def payouts(request: DeskRequest) -> HttpResponse:
    """Show what is owed and the lists made; a POST makes the next list."""
    if request.method == "POST":
        made = make_list(request.desk.user.name, clock.now())
        if made is None:
            leave_notice(request, "Nothing more is owed: all of it stands on a list already.")
            return redirect("desk-payouts")
        record(request, f"Made the payout list {made.pk}")
        return redirect("desk-payout-list", key=made.pk)
    settle_due(clock.now())
    owed = owed_by_worker()
    lists = PayoutList.objects.order_by("-pk").prefetch_related("lines")
    return show(
        request,
        "payouts.html",
        here="payouts",
        owed_cents=sum(owed.values()),
        n_owed=len(owed),
        page=page_of(request, lists),
        reports=PaymentReport.objects.filter(answered_at=None).select_related("worker"),
    )


@host_page
@require_safe
def payout_list(request: DeskRequest, key: int) -> HttpResponse:
    """Show one list: what is paid, what is still to pay."""
    return _drawn(request, key)


def _drawn(request: DeskRequest, key: int, status: int = 200, **context: object) -> HttpResponse:
    made = first_or_error(PayoutList.objects.filter(pk=key), NO_LIST)
    lines = made.lines.select_related("worker", "payout").order_by("pk")
    still_open = lines.filter(OPEN)
    return show(
        request,
        "payout_list.html",
        status=status,
        here="payouts",
        made=made,
        page=page_of(request, lines),
        n_open=still_open.count(),
        parts=parts_of(made),
        n_without_way=n_without_way(made),
        open_cents=sum(still_open.values_list("amount_cents", flat=True)),
        **context,
    )


@host_page
@require_safe
def payout_file(request: DeskRequest, key: int) -> HttpResponse:
    """Return the list as CSV, the same as often as it is asked for."""
    made = first_or_error(PayoutList.objects.filter(pk=key), NO_LIST)
    rows = rows_of(made, currency() or currency_symbol())
    return csv_file(f"payouts-{made.pk}.csv", list(COLUMNS), rows)


@host_page
@require_safe
def service_file(request: DeskRequest, key: int, name: str, part: int) -> HttpResponse:
    """Return what of a list is to pay by one service, as that service reads it."""
    made = first_or_error(PayoutList.objects.filter(pk=key), NO_LIST)
    if (name, part) not in [(one, number) for one, _, number, _ in parts_of(made)]:
        raise PageError("Nothing is left to pay in this way. Choose a file on the list's page.")
    if not currency():
        raise PageError(NO_CURRENCY, 409)
    response = HttpResponse(payout_csv(made, name, part), content_type="text/csv; charset=utf-8")
    file = f"payouts-{made.pk}-{name}-{part}.csv"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


@host_page
@require_safe
def totals_file(request: DeskRequest) -> HttpResponse:
    """Return what each person was paid in each year, as CSV."""
    return csv_file("paid-by-year.csv", list(TOTALS), totals())


@long_bodies_from(knows)
@host_page
@require_POST
def confirm_list(request: DeskRequest, key: int) -> HttpResponse:
    """Take the filled list back; rows with a problem say so, the others count."""
    try:
        found = confirm(text_from(request), request.POST.get("method", ""), clock.now())
    except UploadError as error:
        return _drawn(request, key, status=400, problem=str(error))
    if found.n_new:
        payments = "1 payment" if found.n_new == 1 else f"{found.n_new} payments"
        paid = f"{payments}, {price_of(found.cents)} in all"
        record(request, f"Confirmed {paid}, with list {key}")
    return _drawn(request, key, status=400 if found.problems else 200, confirmed=found)


@host_page
@require_POST
def drop_line(request: DeskRequest, key: int) -> HttpResponse:
    """Take a line off its list; its money is owed again and goes on the next one."""
    line = first_or_error(
        PayoutLine.objects.select_related("worker").filter(pk=key),
        "There is no such payment. Choose a list under Payouts.",
    )
    if remove_line(line, clock.now()):
        record(request, f"Took the payment {line.reference} off its list")
        leave_notice(request, f"{line.reference} is off the list; its money is owed again.")
    else:
        leave_notice(request, f"{line.reference} was paid or taken off before.")
    return redirect("desk-payout-list", key=line.payout_list_id)


@host_page
@require_POST
def answer(request: DeskRequest, key: int) -> HttpResponse:
    """Answer a worker who reports a missing payment."""
    report = first_or_error(
        PaymentReport.objects.select_related("worker").filter(pk=key),
        "There is no such report. Choose one under Payouts.",
    )
    try:
        answer_report(report, request.POST.get("answer", ""), clock.now())
    except PayoutError as error:
        leave_notice(request, str(error))
    else:
        record(request, f"Answered the payment report of {report.worker.worker_id}")
        leave_notice(request, "Your answer stands beside the worker's earnings now.")
    return redirect("desk-payouts")
