"""One sampled worker: the questions are read and marked, then all of theirs are decided about."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.questions.difficulty import difficulty_page, sampled_workers
from annotation.dashboard.questions.passages import Passage, pair_passages, seed_paragraphs
from annotation.dashboard.worker_names import people_of
from annotation.models import HopDecision, Hops, SampledQuestion
from annotation.protocols.contracts import DifficultyTable
from annotation.protocols.single_paragraph_hint import answers_alone
from annotation.splits.difficulty.examples import answer_of
from annotation.splits.difficulty.single_hop_review import decide, mark_question, sampled, undecided
from common.seen_version import OutOfDateError, version_of

DECISIONS = {"single": True, "multi": False, "take_back": None}


@dataclass(frozen=True)
class QuestionToMark:
    """A sampled question with its texts; `alone` is the title that seems to be enough.

    `hops` is ticked; `stored` names the mark that is kept, where it is another one, or "".
    """

    row: SampledQuestion
    hops: str
    stored: str
    answer: str
    texts: list[Passage]
    alone: str


@difficulty_page
@require_safe
def sampled_worker(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable, worker: str
) -> HttpResponse:
    """Show the worker's sample to be read and marked."""
    return _drawn(request, context, table, worker)


def _drawn(
    request: HttpRequest,
    context: CollectionContext,
    table: DifficultyTable,
    worker: str,
    problem: str = "",
) -> HttpResponse:
    """Return the page; what was refused, because of a problem, stays ticked."""
    rows = _rows(context, worker)
    found = next(one for one in sampled_workers(context, table) if one.worker_id == worker)
    history = HopDecision.objects.filter(collection=context.collection, worker_id=worker)
    return context.render(
        request,
        "questions/single_hop_review.html",
        status=400 if problem else 200,
        tab="difficulty",
        problem=problem,
        table=table,
        worker=found,
        reads=[_read(row, request.POST.get(f"hops-{row.pk}", row.hops)) for row in rows],
        choices=[(value, label) for value, label in Hops.choices if value],
        history=list(history.order_by("-pk")),
        seen=_seen(context, worker),
        overwhelming=round(100 * table.single_hop_share),
    )


@difficulty_page
@require_POST
def mark_sample(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable, worker: str
) -> HttpResponse:
    """Keep the marks as they stand on the page, and decide about the worker when asked to."""
    by, now = name_of(request), timezone.now()
    decision = request.POST.get("decision", "")
    who = people_of(context.collection).name(worker)
    single_hop = DECISIONS.get(decision)
    try:
        with context.unchanged(request, lambda: _seen(context, worker)):
            for row in _rows(context, worker):
                mark = request.POST.get(f"hops-{row.pk}", "")
                if mark in Hops.values and mark != row.hops:
                    mark_question(row, Hops(mark), by, now)
            if decision in DECISIONS:
                decide(context.collection, worker, single_hop, by, now)
    except OutOfDateError as error:
        return _drawn(request, context, table, worker, str(error))
    if decision not in DECISIONS:
        messages.success(request, f"{who}: the marks are kept.")
        return redirect(context.url("sampled_worker", worker=worker))
    messages.success(request, f"{who}: {_said(single_hop)}")
    waiting = [each for each in undecided(context.collection) if each != worker]
    if waiting and single_hop is not None:
        return redirect(context.url("sampled_worker", worker=waiting[0]))
    return redirect(context.url("difficulty"))


def _said(single_hop: bool | None) -> str:
    if single_hop is None:
        return "the decision is taken back."
    kind = "single-hop, all of their questions are easy" if single_hop else "multi-hop"
    return f"{kind}. Nobody's pay changes."


def _seen(context: CollectionContext, worker: str) -> str:
    """Return the version of the worker's marks and of what was decided by them."""
    rows = _rows(context, worker)
    last = HopDecision.objects.filter(collection=context.collection, worker_id=worker).last()
    return version_of([(row.pk, row.hops) for row in rows], last and last.pk)


def _rows(context: CollectionContext, worker: str) -> list[SampledQuestion]:
    """Return the worker's sample with all that is shown of it; 404 without one."""
    rows = sampled(context.collection).filter(worker_id=worker)
    get_object_or_404(rows.order_by("pk")[:1])
    read = rows.select_related("question__seed", "question__verdict__chosen")
    return list(read.prefetch_related(seed_paragraphs("question__seed")).order_by("position"))


def _read(row: SampledQuestion, hops: str) -> QuestionToMark:
    question = row.question
    answer = answer_of(question.verdict.chosen)
    paragraphs = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    titles = [paragraph.article.title for paragraph in paragraphs]
    place = answers_alone(question.text, answer, titles, [each.text for each in paragraphs])
    return QuestionToMark(
        row=row,
        hops=hops,
        stored="" if hops == row.hops else str(Hops(row.hops).label),
        answer=answer,
        texts=pair_passages(question, question.verdict.chosen),
        alone="" if place is None else titles[place],
    )
