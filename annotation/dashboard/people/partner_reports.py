"""What partners in dialogs say of each other: read with the dialog, decided one by one."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.forms import number_of
from annotation.dashboard.worker_names import People, people_of
from common.actions import ActionError
from common.seen_version import version_of
from tasks.models import PartnerReport, ReportDecision, Turn
from tasks.people import partner_reports
from tasks.work.sections import section_of

PER_PAGE = 10
REASONS = {
    "rude": "was rude",
    "nonsense": "wrote nonsense",
    "silent": "did not answer",
    "other": "did something else",
}


@dataclass(frozen=True)
class DialogTurn:
    """One turn: the question, and the passage it was answered with, None without an answer."""

    question: str
    answer: str | None


@dataclass(frozen=True)
class ReportedPartner:
    """A report with what to call both, who asked, and all that they said."""

    row: PartnerReport
    reporter: str
    reported: str
    reported_was: str
    said_of_them: str
    turns: list[DialogTurn]
    title: str
    seen: str


@collection_page
@require_safe
def partners(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Show the reports that wait for a decision, oldest first, or the decided, newest first."""
    decided = request.GET.get("show") == "decided"
    rows = _reports(context)
    shown = rows.exclude(decision="") if decided else rows.filter(decision="")
    shown = shown.order_by("-decided_at" if decided else "at", "pk")
    page = Paginator(shown, PER_PAGE).get_page(request.GET.get("page"))
    people = people_of(context.collection)
    return context.render(
        request,
        "people/partner_reports.html",
        tab="problems",
        decided=decided,
        page=page,
        complaints=[_complaint(row, people) for row in page],
        any=bool(page.object_list) or rows.exists(),
    )


@collection_page
@require_POST
def decide_report(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Record a decision; nobody's pay changes by it."""
    key = number_of(request.POST.get("report", ""))
    row = get_object_or_404(_reports(context), pk=key)
    try:
        decision = ReportDecision(request.POST.get("decision", ""))
        words = request.POST.get("words", "")[:500]
        with context.unchanged(request, lambda: _seen(_reports(context).get(pk=key))):
            partner_reports.decide(row, decision, words, name_of(request), timezone.now())
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


def _reports(context: CollectionContext) -> QuerySet[PartnerReport]:
    turns = Prefetch("dialog__turns", queryset=Turn.objects.order_by("number"))
    rows = PartnerReport.objects.filter(dialog__stage__collection=context.collection)
    return rows.select_related("dialog__topic", "dialog__stage__collection").prefetch_related(turns)


def _complaint(row: PartnerReport, people: People) -> ReportedPartner:
    section = section_of(row.dialog.topic.seed_id)
    return ReportedPartner(
        row=row,
        reporter=people.name(row.reporter_id),
        reported=people.name(row.reported_id),
        reported_was="student" if row.reported_id == row.dialog.student_id else "teacher",
        said_of_them=REASONS.get(row.reason, row.reason),
        turns=[
            DialogTurn(turn.question, _answer(turn, section.text))
            for turn in row.dialog.turns.all()
        ],
        title=f"{section.title}: {section.heading}",
        seen=_seen(row),
    )


def _answer(turn: Turn, text: str) -> str | None:
    if turn.answered_at is None:
        return None
    return "No answer" if turn.start is None else text[turn.start : turn.end]
