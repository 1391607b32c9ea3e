"""How hard the questions are: sampled workers read and decided about, the cross-validation."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, View, collection_page
from annotation.dashboard.forms import refusals_shown
from annotation.dashboard.questions.filters import splits_of
from annotation.dashboard.questions.reading import pair_passages, seed_paragraphs
from annotation.dashboard.worker_names import people_of
from annotation.models import CrossValidation, HopDecision, Hops, SampledQuestion, SplitAssignment
from annotation.protocols.contracts import DifficultyTable
from annotation.protocols.reader_hints import answers_alone
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import begin_run, n_unjudged, readers_of
from annotation.splits.kept_questions import answer_of, kept_questions
from annotation.splits.single_hop_review import (
    decide,
    decisions,
    draw_sample,
    mark_question,
    sampled,
    suggested,
    undecided,
)
from common.actions import ActionError
from common.long_work import WorkState
from common.sent_form import OutOfDateError, version_of
from readers.reader import LIGHT
from tasks.work.kinds.hit_words import title_of

WORDS = {True: "Single-hop", False: "Multi-hop"}
DECISIONS = {"single": True, "multi": False, "take_back": None}
DECIDED = {
    True: "single-hop, all of their questions are easy. Nobody's pay changes.",
    False: "multi-hop. Nobody's pay changes.",
    None: "the decision is taken back.",
}


@dataclass(frozen=True)
class SampledWorker:
    """A sampled worker: how much they wrote, how their sample was marked, what was decided."""

    worker_id: str
    who: str
    questions: int
    share: float
    marks: dict[str, int]
    suggestion: bool | None
    decision: HopDecision | None

    @property
    def n_sampled(self) -> int:
        """Return how many questions a person is to read."""
        return sum(self.marks.values())

    @property
    def n_marked(self) -> int:
        """Return how many of them were marked."""
        return self.n_sampled - self.marks.get(Hops.UNMARKED, 0)

    @property
    def n_single(self) -> int:
        """Return how many of them were marked as single-hop."""
        return self.marks.get(Hops.SINGLE, 0)

    @property
    def suggested(self) -> str:
        """Return what the marks suggest, in words."""
        return WORDS.get(self.suggestion, "") if self.suggestion is not None else ""


def difficulty_page(view: Any) -> View:
    """Make a view a `collection_page` that gets its table of difficulty; 404 without one."""

    def opened(request: HttpRequest, context: CollectionContext, **kwargs: Any) -> HttpResponseBase:
        if context.difficulty is None:
            raise Http404
        found: HttpResponseBase = view(request, context, context.difficulty, **kwargs)
        return found

    opened.__name__ = view.__name__
    return collection_page(opened)


@difficulty_page
@require_safe
def difficulty(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable
) -> HttpResponse:
    """Show the sampled workers and how far the judging is."""
    workers = sampled_workers(context, table)
    return context.render(
        request,
        "questions/difficulty.html",
        tab="difficulty",
        table=table,
        workers=workers,
        first=next((one for one in workers if one.decision is None), None),
        **_now(context),
    )


@difficulty_page
@require_safe
def difficulty_now(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable
) -> HttpResponse:
    """Return the part of the page that changes while readers are trained."""
    return context.render(
        request, "parts/judging_now.html", tab="difficulty", table=table, **_now(context)
    )


@difficulty_page
@require_POST
def draw_questions(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable
) -> HttpResponse:
    """Draw the sample of the top contributors by now; what was drawn before stays."""
    n_drawn = draw_sample(context.collection, table)
    if n_drawn:
        messages.success(request, f"Drawn: {n_drawn} questions to read.")
    else:
        messages.info(request, "Every top contributor has a sample already.")
    return redirect(context.url("difficulty"))


@difficulty_page
@require_POST
def begin_judging(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable
) -> HttpResponse:
    """Begin a cross-validation; jobs train its folds."""
    with refusals_shown(request):
        begin_run(context.collection, table, name_of(request), timezone.now())
    return redirect(context.url("difficulty"))


@difficulty_page
@require_POST
def split_now(
    request: HttpRequest, context: CollectionContext, table: DifficultyTable
) -> HttpResponse:
    """Put every kept question into its split: what is read once more is drawn of these.

    Nothing is published: no release is needed for it.
    """
    try:
        counts = make_splits(context.collection, timezone.now())
    except ActionError as error:
        messages.error(request, error.on_page)
        return redirect(context.url("difficulty"))
    again = [
        title_of(stage) for stage in context.parameters.stages().values() if stage.sample_questions
    ]
    told = f"Assigned to splits: {sum(counts.values())} questions."
    if again:
        told += f" HITs of “{again[0]}” are drawn of them once its stage is open."
    messages.success(request, told)
    return redirect(context.url("difficulty"))


def sampled_workers(context: CollectionContext, table: DifficultyTable) -> list[SampledWorker]:
    """Return every sampled worker, who wrote most first; five queries."""
    collection = context.collection
    rows = sampled(collection).order_by("worker_id")
    marks: dict[str, dict[str, int]] = {}
    for row in rows.values("worker_id", "hops").annotate(n=Count("pk")):
        marks.setdefault(row["worker_id"], {})[row["hops"]] = row["n"]
    written = kept_questions(collection).order_by().values("worker_id").annotate(n=Count("pk"))
    numbers = {row["worker_id"]: row["n"] for row in written}
    total = sum(numbers.values()) or 1
    decided, people = decisions(collection), people_of(collection)
    found = [
        SampledWorker(
            worker_id=worker,
            who=people.name(worker),
            questions=numbers.get(worker, 0),
            share=100 * numbers.get(worker, 0) / total,
            marks=counts,
            suggestion=suggested(counts, table),
            decision=decided.get(worker),
        )
        for worker, counts in marks.items()
    ]
    return sorted(found, key=lambda one: (-one.questions, one.who, one.worker_id))


def _now(context: CollectionContext) -> dict[str, Any]:
    collection = context.collection
    run = CrossValidation.objects.filter(collection=collection).first()
    decided = decisions(collection)
    workers = set(sampled(collection).values_list("worker_id", flat=True))
    easy = [worker for worker, row in decided.items() if row.single_hop]
    kept = kept_questions(collection).order_by()
    numbers = kept.aggregate(all=Count("pk"), easy=Count("pk", filter=Q(worker_id__in=easy)))
    placed = SplitAssignment.objects.filter(question__in=kept)
    rows = placed.order_by().values("split").annotate(n=Count("pk"))
    sizes = {row["split"]: row["n"] for row in rows}
    return {
        "n_kept": numbers["all"],
        "n_easy": numbers["easy"],
        "n_rest": numbers["all"] - numbers["easy"],
        "n_sampled": len(workers),
        "n_undecided": len(workers - decided.keys()),
        "run": run,
        "folds": list(run.folds.all()) if run else [],
        "going_on": run is not None and run.is_going_on,
        "n_new": n_unjudged(collection, run) if run and run.state == WorkState.DONE else 0,
        "n_right_share": 100 * run.n_right / run.n_examples if run and run.n_examples else 0,
        "splits": [(name, sizes[name]) for name in splits_of(context) if name in sizes],
        "needs_torch": run is not None and run.reader != LIGHT,
        "is_ours": run is not None and run.reader in readers_of(collection),
    }


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
    messages.success(request, f"{who}: {DECIDED[single_hop]}")
    waiting = [each for each in undecided(context.collection) if each != worker]
    if waiting and single_hop is not None:
        return redirect(context.url("sampled_worker", worker=waiting[0]))
    return redirect(context.url("difficulty"))


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


def _read(row: SampledQuestion, hops: str) -> dict[str, Any]:
    """Return a sampled question with its texts; `alone` is the title that seems to be enough.

    `hops` is ticked; `stored` names the mark that is kept, where it is another one, or "".
    """
    question = row.question
    answer = answer_of(question.verdict.chosen)
    paragraphs = [each.paragraph for each in question.seed.seed_paragraphs.all()]
    titles = [paragraph.article.title for paragraph in paragraphs]
    place = answers_alone(question.text, answer, titles, [each.text for each in paragraphs])
    return {
        "row": row,
        "hops": hops,
        "stored": "" if hops == row.hops else str(Hops(row.hops).label),
        "answer": answer,
        "texts": pair_passages(question, question.verdict.chosen),
        "alone": "" if place is None else titles[place],
    }
