"""What workers report: problems with a HIT, and partners in dialogs."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import LONGEST_AMOUNT, number_of
from annotation.dashboard.worker_names import people_of
from annotation.decisions.verdicts import voting_stages
from common.actions import ActionError
from common.money import cents_of
from common.sent_form import version_of
from tasks.models import PartnerReport, ProblemReport, ReportDecision, Turn, UnitItem
from tasks.people import reports
from tasks.people.reports import MOST_WORDS
from tasks.work.kinds.registry import kinds_that_pair
from tasks.work.passages import section_of

PROBLEMS_PER_PAGE = 20
PARTNERS_PER_PAGE = 10
REASONS = {
    "rude": "was rude",
    "nonsense": "wrote nonsense",
    "silent": "did not answer",
    "other": "did something else",
}


@collection_page
@require_safe
def problems(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the open reports, oldest first, or the resolved ones, newest first."""
    resolved = request.GET.get("show") == "resolved"
    rows = _reports(context).filter(resolved_at__isnull=not resolved)
    rows = rows.order_by("-resolved_at" if resolved else "at", "pk")
    page = Paginator(rows, PROBLEMS_PER_PAGE).get_page(request.GET.get("page"))
    people = people_of(context.collection)
    return context.render(
        request,
        "people/problem_reports.html",
        tab="problems",
        resolved=resolved,
        page=page,
        reports=[
            {
                "row": row,
                "who": people.name(row.lease.worker_id),
                "number": people.number(row.lease.worker_id),
                "items": [_item(context, item) for item in row.lease.unit.items.all()],
                "handed_in": hasattr(row.lease, "submission"),
                "typed": request.session.pop(_typed(row), {}),
            }
            for row in page
        ],
        partners=context.collection.stages.filter(kind__in=kinds_that_pair()).exists(),
        any=bool(page.object_list) or _reports(context).exists(),
    )


@collection_page
@require_POST
def resolve(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Mark a report as resolved, or open it again."""
    key = number_of(request.POST.get("report", ""))
    row = get_object_or_404(_reports(context), pk=key)
    again = request.POST.get("again") == "yes"
    reports.resolve_problem(row, None if again else timezone.now())
    messages.success(request, "Opened again." if again else "Marked as resolved.")
    return redirect(context.url("problems") + ("?show=resolved" if again else ""))


@collection_page
@require_POST
def answer_report(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Answer a report, with money for the trouble or without; a refused answer is kept."""
    key = number_of(request.POST.get("report", ""))
    row = get_object_or_404(_reports(context), pk=key)
    words, amount = request.POST.get("words", ""), request.POST.get("amount", "").strip()
    cents = cents_of(amount, context.parameters.pay.minor_units) if amount else 0
    try:
        if cents is None:
            raise ActionError("Write the amount as a number, such as 0.50, or leave it empty.")
        reports.answer_problem(row, words, cents, name_of(request), timezone.now())
    except ActionError as error:
        typed = {"words": words[: 2 * MOST_WORDS], "amount": amount[:LONGEST_AMOUNT]}
        request.session[_typed(row)] = typed
        messages.error(request, error.on_page)
    else:
        paid = f" They are given {context.price(cents)}." if cents else ""
        messages.success(request, f"Answered and resolved. The worker is told by a letter.{paid}")
    return redirect(context.url("problems") + f"#report-{row.pk}")


def _item(context: CollectionContext, item: UnitItem) -> tuple[str, str]:
    """Return what to call an item of a page, and the address of its own page, if it has one."""
    if item.question:
        # Those of a qualification have no page: no vote decides on them.
        has_page = item.question.stage.name in voting_stages(context.parameters)
        return item.question.text, context.url(
            "question", key=item.question.key
        ) if has_page else ""
    assert item.seed is not None
    titles = [each.paragraph.article.title for each in item.seed.seed_paragraphs.all()]
    return " and ".join(dict.fromkeys(titles)), ""


def _typed(row: ProblemReport) -> str:
    return f"answer {row.pk}"


def _reports(context: CollectionContext) -> QuerySet[ProblemReport]:
    rows = ProblemReport.objects.filter(lease__unit__stage__collection=context.collection)
    rows = rows.select_related("lease__unit__stage", "lease__submission", "payment")
    return rows.prefetch_related(
        "lease__unit__items__question__stage",
        "lease__unit__items__seed__seed_paragraphs__paragraph__article",
    )


@collection_page
@require_safe
def partners(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the reports that wait for a decision, oldest first, or the decided, newest first."""
    decided = request.GET.get("show") == "decided"
    rows = _partner_reports(context)
    shown = rows.exclude(decision="") if decided else rows.filter(decision="")
    shown = shown.order_by("-decided_at" if decided else "at", "pk")
    page = Paginator(shown, PARTNERS_PER_PAGE).get_page(request.GET.get("page"))
    people = people_of(context.collection)
    return context.render(
        request,
        "people/partner_reports.html",
        tab="problems",
        decided=decided,
        page=page,
        complaints=[
            {
                "row": row,
                "reporter": people.name(row.reporter_id),
                "reported": people.name(row.reported_id),
                "reported_was": "student"
                if row.reported_id == row.dialog.student_id
                else "teacher",
                "said_of_them": REASONS.get(row.reason, row.reason),
                "turns": [
                    {"question": turn.question, "answer": _answer(turn, section.text)}
                    for turn in row.dialog.turns.all()
                ],
                "title": f"{section.title}: {section.heading}",
                "seen": _seen(row),
            }
            for row in page
            for section in [section_of(row.dialog.topic.seed_id)]
        ],
        any=bool(page.object_list) or rows.exists(),
    )


@collection_page
@require_POST
def decide_report(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Record a decision; nobody's pay changes by it."""
    key = number_of(request.POST.get("report", ""))
    row = get_object_or_404(_partner_reports(context), pk=key)
    try:
        decision = ReportDecision(request.POST.get("decision", ""))
        words = request.POST.get("words", "")[:500]
        with context.unchanged(request, lambda: _seen(_partner_reports(context).get(pk=key))):
            reports.decide_about_partner(row, decision, words, name_of(request), timezone.now())
    except ActionError as error:
        messages.error(request, error.on_page)
    except ValueError:
        messages.error(request, "Choose what to do about it.")
    else:
        who = people_of(context.collection).name(row.reported_id)
        messages.success(request, f"{who}: {decision.label.lower()}.")
    return redirect(context.url("partners"))


def _seen(row: PartnerReport) -> str:
    """Return the version of what was decided about a report."""
    return version_of(row.decision, row.words, row.decided_by, row.decided_at)


def _partner_reports(context: CollectionContext) -> QuerySet[PartnerReport]:
    turns = Prefetch("dialog__turns", queryset=Turn.objects.order_by("number"))
    rows = PartnerReport.objects.filter(dialog__stage__collection=context.collection)
    return rows.select_related("dialog__topic", "dialog__stage__collection").prefetch_related(turns)


def _answer(turn: Turn, text: str) -> str | None:
    """Return the passage that a turn was answered with, None before it was."""
    if turn.answered_at is None:
        return None
    return "No answer" if turn.start is None else text[turn.start : turn.end]
