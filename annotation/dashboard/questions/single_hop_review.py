"""One sampled worker: the questions are read and marked, then all of theirs are decided about."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext
from annotation.dashboard.people.worker_names import people_of
from annotation.dashboard.questions.difficulty import difficulty_page, sampled_workers
from annotation.dashboard.questions.passages import Passage, pair_passages, seed_paragraphs
from annotation.models import HopDecision, Hops, SampledQuestion
from annotation.readers.single_paragraph_hint import answers_alone
from annotation.splits.difficulty.examples import answer_of
from annotation.splits.difficulty.parameters import DifficultyTable
from annotation.splits.difficulty.single_hop_review import decide, mark_question, sampled, undecided

DECISIONS = {"single": True, "multi": False, "take_back": None}


@dataclass(frozen=True)
class QuestionToMark:
    """A sampled question with its texts; `alone` is the title that seems to be enough."""

    row: SampledQuestion
    answer: str
    texts: list[Passage]
    alone: str


@difficulty_page
@require_safe
def sampled_worker(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable, worker: str
) -> HttpResponse:
    """Show the worker's sample to be read and marked."""
    rows = _rows(context, worker)
    found = next(one for one in sampled_workers(context, table) if one.worker_id == worker)
    history = HopDecision.objects.filter(collection=context.collection, worker_id=worker)
    return context.render(
        request,
        "questions/single_hop_review.html",
        tab="difficulty",
        table=table,
        worker=found,
        reads=[_read(row) for row in rows],
        choices=[(value, label) for value, label in Hops.choices if value],
        history=list(history.order_by("-pk")),
        overwhelming=round(100 * table.single_hop_share),
    )


@difficulty_page
@require_POST
def mark_sample(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable, worker: str
) -> HttpResponse:
    """Keep the marks as they stand on the page, and decide about the worker when asked to."""
    rows, by, now = _rows(context, worker), name_of(request), timezone.now()
    for row in rows:
        mark = request.POST.get(f"hops-{row.pk}", "")
        if mark in Hops.values and mark != row.hops:
            mark_question(row, Hops(mark), by, now)
    decision = request.POST.get("decision", "")
    who = people_of(context.collection).name(worker)
    if decision not in DECISIONS:
        messages.success(request, f"{who}: the marks are kept.")
        return redirect(context.url("sampled_worker", worker=worker))
    single_hop = DECISIONS[decision]
    decide(context.collection, worker, single_hop, by, now)
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


def _rows(context: CollectionContext, worker: str) -> list[SampledQuestion]:
    """Return the worker's sample with all that is shown of it; 404 without one."""
    rows = sampled(context.collection).filter(worker_id=worker)
    get_object_or_404(rows.order_by("pk")[:1])
    read = rows.select_related("question__seed", "question__verdict__chosen")
    return list(read.prefetch_related(seed_paragraphs("question__seed")).order_by("position"))


def _read(row: SampledQuestion) -> QuestionToMark:
    question = row.question
    answer = answer_of(question.verdict.chosen)
    paragraphs = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    titles = [paragraph.article.title for paragraph in paragraphs]
    place = answers_alone(question.text, answer, titles, [each.text for each in paragraphs])
    return QuestionToMark(
        row=row,
        answer=answer,
        texts=pair_passages(question, question.verdict.chosen),
        alone="" if place is None else titles[place],
    )
