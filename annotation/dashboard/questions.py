"""Every question with its verdict; one question with all its votes; overriding by hand."""

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.verdict import Outcome
from annotation.dashboard.access import name_of
from annotation.dashboard.answers import ReadableAnswer, readable
from annotation.dashboard.desk import Desk, on_desk
from annotation.dashboard.passages import Passage, pair_passages, passage, seed_paragraphs
from annotation.dashboard.people import People, people_of
from annotation.dashboard.verdicts import Filter, choices, judged, outcome_counts, splits_of
from annotation.deciding import IN_ORDER, voting_stages
from annotation.models import Override, Placement, Verdict
from annotation.review.review import ReviewError, follow_votes, override_verdict
from tasks.answer_words import answer_text, type_words
from tasks.models import Answer, Question
from tasks.widgets.reply import SECTION
from tasks.widgets.spans import MAIN

PER_PAGE = 25
# The decision to have none: see follow_votes.
VOTES = "votes"


@dataclass(frozen=True)
class Line:
    """One question of the list; `answer` is what is released."""

    question: Question
    verdict: Verdict | None
    answer: str
    type: str
    placement: Placement | None


@dataclass(frozen=True)
class Vote:
    """One answer to a question; `second` marks a later reading that is no vote."""

    letter: str
    who: str
    number: int | None
    given: ReadableAnswer
    agrees: bool
    released: bool
    second: bool

    @property
    def can_be_kept(self) -> bool:
        """Return whether the question can be kept with this answer."""
        return not self.second and self.given.answer.type != "bad"


@on_desk
@require_safe
def questions(request: HttpRequest, desk: Desk) -> HttpResponse:
    """List the questions that fit the filter in the address."""
    wanted = Filter.of(request.GET)
    rows = wanted.apply(judged(desk)).order_by("pk")
    rows = rows.select_related("seed", "verdict__chosen", "placement")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    counts = outcome_counts(desk)
    return desk.render(
        request,
        "questions.html",
        tab="questions",
        filter=wanted,
        outcomes=[(wanted.address(outcome=name), name, words, n) for name, words, n in counts],
        total=counts[0][2],
        folds=splits_of(desk),
        page=page,
        query=wanted.address() + "&" if wanted.address() else "",
        lines=[_line(question) for question in page],
        **choices(desk),
    )


@on_desk
@require_safe
def question(request: HttpRequest, desk: Desk, key: str) -> HttpResponse:
    """Show one question: the passage, every vote side by side, the verdict and its history."""
    row = _question(desk, key)
    verdict = getattr(row, "verdict", None)
    people = people_of(desk.collection)
    votes = _votes(desk, row, verdict, people)
    overrides = verdict.overrides.select_related("new_chosen") if verdict else []
    letters = {vote.given.answer.pk: vote.letter for vote in votes}
    return desk.render(
        request,
        "question.html",
        tab="questions",
        question=row,
        writer=people.name(row.worker_id),
        writer_number=people.number(row.worker_id),
        passages=_passages(row, verdict),
        placement=getattr(row, "placement", None),
        before=_before(row),
        links=row.payload.get("links"),
        verdict=verdict,
        votes=votes,
        overrides=[(each, letters.get(each.new_chosen_id)) for each in overrides],
        typed=request.session.pop(f"override {row.key}", {}),
    )


@on_desk
@require_POST
def override(request: HttpRequest, desk: Desk, key: str) -> HttpResponse:
    """Record a decision by hand; a refused one keeps what was typed."""
    row = _question(desk, key)
    verdict = getattr(row, "verdict", None)
    if verdict is None:
        messages.error(request, "Nobody has answered yet: there is nothing to decide.")
        return redirect(desk.url("question", key=key))
    chosen, outcome = _chosen(request, desk, row)
    note = request.POST.get("note", "")
    by, now = name_of(request), timezone.now()
    try:
        if request.POST.get("decision") == VOTES:
            logged = follow_votes(verdict, note, by, now)
        else:
            logged = override_verdict(verdict, outcome, chosen, note, by, now)
    except ReviewError as error:
        typed = {"note": note, "decision": request.POST.get("decision", "")}
        request.session[f"override {row.key}"] = typed
        messages.error(request, str(error))
    else:
        messages.success(request, f"Recorded: {_recorded(logged)} Nobody's reward changes.")
    return redirect(desk.url("question", key=key))


def _recorded(logged: Override) -> str:
    """Return where the question stands after a decision."""
    done = {
        Outcome.KEPT: "the question is in the dataset.",
        Outcome.DROPPED: "the question is left out.",
        Outcome.WAITING: "the question waits for answers.",
    }[Outcome(logged.new_outcome)]
    return f"the verdict follows the votes again, and {done}" if logged.follows_votes else done


def _chosen(request: HttpRequest, desk: Desk, row: Question) -> tuple[Answer | None, str]:
    """Return the vote by the letter that was picked, and the outcome it stands for."""
    picked = request.POST.get("decision", "")
    if picked == "drop":
        return None, Outcome.DROPPED
    given = dict(zip(LETTERS, _answers(row), strict=False))
    answer = given.get(picked)
    if answer is None or answer.stage.name not in voting_stages(desk.parameters)[row.stage.name]:
        return None, Outcome.KEPT if picked else ""
    return answer, Outcome.KEPT


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _question(desk: Desk, key: str) -> Question:
    rows = judged(desk).select_related("seed", "verdict", "stage", "placement")
    return get_object_or_404(rows.prefetch_related(seed_paragraphs("seed")), key=key)


def _answers(row: Question) -> list[Answer]:
    rows = Answer.objects.filter(question=row).select_related("question__seed", "stage")
    rows = rows.order_by("stage__position", *IN_ORDER)
    return list(rows.prefetch_related(seed_paragraphs("question__seed")))


def _votes(desk: Desk, row: Question, verdict: Verdict | None, people: People) -> list[Vote]:
    voting = voting_stages(desk.parameters)[row.stage.name]
    given = readable(_answers(row), desk.collection.corpus)
    return [
        Vote(
            letter=letter,
            who=people.name(each.answer.worker_id),
            number=people.number(each.answer.worker_id),
            given=each,
            agrees=verdict is not None and each.answer.pk in verdict.agreeing,
            released=verdict is not None and each.answer.pk == verdict.chosen_id,
            second=each.answer.stage.name not in voting,
        )
        for letter, each in zip(LETTERS, given, strict=False)
    ]


def _passages(row: Question, verdict: Verdict | None) -> list[Passage]:
    if "facts" in row.payload:
        return pair_passages(row, verdict.chosen if verdict else None)
    marked = [
        (span["start"], span["end"], "evidence")
        for span in row.payload.get("context") or ()
        if span.get("document", MAIN) == MAIN
    ]
    released = verdict.chosen.payload if verdict and verdict.chosen else {}
    answered = [
        (span["start"], span["end"], "answer")
        for span in released.get("spans") or ()
        if span.get("document") == SECTION
    ]
    return [passage(row.seed, [*marked, *answered])]


def _before(row: Question) -> list[tuple[str, str]]:
    """Return what was asked and answered before in the question's dialog; nothing elsewhere."""
    if "dialog" not in row.payload:
        return []
    turns = Answer.objects.filter(
        stage=row.stage,
        question__seed=row.seed,
        question__payload__dialog=row.payload["dialog"],
        question__position__lt=row.position,
    )
    turns = turns.select_related("question").order_by("question__position")
    return [(turn.question.text, answer_text(turn) or type_words(turn.type)) for turn in turns]


def _line(question: Question) -> Line:
    verdict = getattr(question, "verdict", None)
    chosen = verdict.chosen if verdict else None
    return Line(
        question=question,
        verdict=verdict,
        answer=answer_text(chosen) if chosen else "",
        type=type_words(chosen.type) if chosen else "",
        placement=getattr(question, "placement", None),
    )
