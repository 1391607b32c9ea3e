"""Every question with its verdict; one question with all its votes; overriding by hand."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from string import ascii_uppercase
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement.decision import Outcome
from annotation.dashboard.access import name_of
from annotation.dashboard.collection_context import CollectionContext, collection_page
from annotation.dashboard.lists import asks_for_csv, csv_of, decide_each, read_in_parts, sorts_of
from annotation.dashboard.questions.corrected_answer import (
    MOST_WORDS,
    CorrectionInput,
    corrected,
    correction_types,
    takes_evidence,
)
from annotation.dashboard.questions.filters import (
    ADJUDICATION,
    AGAIN,
    LABELS,
    ORDERS,
    Filter,
    choices,
    outcome_counts,
    sentence_of,
    splits_of,
    voted_questions,
)
from annotation.dashboard.questions.reading import (
    OWN,
    Passage,
    article_texts,
    pair_passages,
    passage,
    pieces,
    proven_passages,
    readable,
    seed_paragraphs,
)
from annotation.dashboard.worker_names import People, people_of
from annotation.decisions.by_hand import (
    correct,
    decide_labels,
    decisions_on,
    fallen,
    follow_votes,
    override_verdict,
    stages_apart,
)
from annotation.decisions.counted_work import excluded_workers, is_counted
from annotation.decisions.verdicts import IN_ORDER, lock, voting_stages
from annotation.models import Override, Verdict
from common.actions import ActionError
from common.sent_form import FIELD, check_seen, version_of
from tasks.models import Answer, Question
from tasks.work.kinds.registry import kind_of
from tasks.work.kinds.voting import answer_text, type_words, written_beside
from tasks.work.widgets.spans import MAIN

PER_PAGE = 25
MAX_TITLE = 300
# The decision to have none: see follow_votes.
VOTES = "votes"
CORRECTED = "corrected"
COLUMNS = (
    "question",
    "text",
    "answer",
    "type",
    "verdict",
    "reason",
    "votes",
    "agreeing",
    "split",
    "worker",
    "called",
)
# What can be decided of several questions at once; to keep one, an answer is chosen on its page.
AT_ONCE: dict[str, Callable[[Verdict, str, str, datetime], Override]] = {
    "drop": lambda verdict, note, by, now: override_verdict(
        verdict, Outcome.DROPPED, None, note, by, now
    ),
    VOTES: follow_votes,
}
# What is typed of a corrected answer, and what else stays where a decision is refused.
TYPED = tuple(field.name for field in fields(CorrectionInput))
KEPT = ("decision", "base", *TYPED)
# What the log says of a vote that was chosen by one key, where nothing is written beside it.
CHOSEN_BY_KEY = "Adjudicated: the votes differed."


@collection_page
@require_safe
def questions(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """List the questions that fit the filter in the address."""
    wanted, people = Filter.of(request.GET), people_of(context.collection)
    rows = wanted.apply(context).order_by(*wanted.order)
    rows = rows.select_related("seed", "verdict__chosen", "split_assignment")
    if asks_for_csv(request):
        cells = (_cells(_line(row), people) for part in read_in_parts(rows) for row in part)
        return csv_of(f"{context.collection.slug}-questions", COLUMNS, cells)
    last_by_hand = Override.objects.filter(verdict=OuterRef("verdict")).order_by("-pk")
    rows = rows.annotate(by_hand=Subquery(last_by_hand.values("pk")[:1]))
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    counts = outcome_counts(context, wanted)
    worker = people.worker(int(wanted.worker)) if wanted.worker else None
    return context.render(
        request,
        "questions/list.html",
        tab="questions",
        filter=wanted,
        by=people.name(worker) if worker else "",
        sort=wanted.sort,
        sorts=sorts_of(ORDERS),
        outcomes=[(wanted.address(outcome=name), name, words, n) for name, words, n in counts],
        total=voted_questions(context).exists(),
        folds=splits_of(context),
        page=page,
        query=wanted.address() + "&" if wanted.address() else "",
        address=wanted.address(),
        lines=[_line(question) for question in page],
        **choices(context),
    )


def _cells(line: Mapping[str, Any], people: People) -> list[object]:
    row, verdict, placed = line["question"], line["verdict"], line["split_assignment"]
    return [
        row.key,
        row.text,
        line["answer"],
        line["type"],
        verdict.outcome if verdict else "",
        verdict.reason if verdict else "",
        verdict.n_votes if verdict else 0,
        line["n_agreeing"],
        placed.split if placed else row.seed.fold,
        people.number(row.worker_id),
        people.name(row.worker_id),
    ]


@collection_page
@require_POST
def decide_several(request: HttpRequest, context: CollectionContext) -> HttpResponse:
    """Exclude every ticked question, or give its verdict back to its votes, with one note.

    What has been decided by hand since the list was shown stays as it is.
    """
    ticked = dict(value.partition(".")[::2] for value in request.POST.getlist("question"))
    act = AT_ONCE.get(request.POST.get("decision", ""))
    by, note, now = name_of(request), request.POST.get("note", ""), timezone.now()

    def decide(row: Question) -> None:
        assert act is not None
        with transaction.atomic():
            lock(row)
            last = row.verdict.overrides.last()
            check_seen({FIELD: ticked[row.key]}, str(last.pk) if last else "")
            act(row.verdict, note, by, now)

    rows = voted_questions(context).filter(key__in=ticked, verdict__isnull=False)
    decide_each(
        request,
        rows.select_related("verdict", "stage__collection").order_by("pk") if act else (),
        decide,
        "Each decision is logged with your name. Nobody's reward changes.",
    )
    return redirect(f"{context.url('questions')}?{Filter.of(request.GET).address()}")


@collection_page
@require_safe
def question(request: HttpRequest, context: CollectionContext, key: str) -> HttpResponse:
    """Show one question: the passage, every vote side by side, the verdict and its history."""
    row = _question(context, key)
    verdict = getattr(row, "verdict", None)
    people = people_of(context.collection)
    votes = _votes(context, row, verdict, people)
    overrides = verdict.overrides.select_related("new_chosen") if verdict else []
    out = excluded_workers(context.collection)
    letters: dict[int | None, str] = {vote["given"].answer.pk: vote["letter"] for vote in votes}
    wanted = Filter.of(request.GET)
    chosen = verdict.chosen if verdict else None
    return context.render(
        request,
        "questions/question.html",
        tab="questions",
        question=row,
        writer=people.name(row.worker_id),
        writer_number=people.number(row.worker_id),
        passages=_passages(row, verdict),
        split_assignment=getattr(row, "split_assignment", None),
        before=_before(row),
        links=row.payload.get("links"),
        own=written_beside(row),
        verdict=verdict,
        sentence=sentence_of(verdict) if verdict else "",
        fell=verdict is not None and fallen().filter(pk=verdict.pk).exists(),
        votes=votes,
        overrides=[(each, letters.get(each.new_chosen_id)) for each in overrides],
        # The released answer where a requester entered it.
        corrected=readable([chosen], context.collection.corpus)[0]
        if chosen and chosen.corrected_by
        else None,
        correction_types=correction_types(votes[0]["given"].answer) if votes else [],
        corrects_evidence=bool(votes) and takes_evidence(votes[0]["given"].answer),
        address=wanted.address(),
        neighbours=_neighbours(context, wanted, row),
        adjudicates=_adjudicates(wanted) and verdict is not None,
        decides_labels=wanted.outcome == LABELS,
        label_decisions=[
            (each, answer_text(each), letters.get(each.corrects_id), is_counted(each, out))
            for each in decisions_on(row, context.parameters)
        ],
        typed=request.session.pop(
            f"override {row.key}",
            {"base": next((vote["letter"] for vote in votes if vote["released"]), "")},
        ),
        seen=_seen(row),
    )


@collection_page
@require_POST
def override(request: HttpRequest, context: CollectionContext, key: str) -> HttpResponse:
    """Record a decision by hand; a refused one keeps what was typed."""
    row = _question(context, key)
    verdict = getattr(row, "verdict", None)
    if verdict is None:
        messages.error(request, "Nobody has answered yet: there is nothing to decide.")
        return redirect(_address(context, request, key))
    note = request.POST.get("note", "")
    if _adjudicates(Filter.of(request.GET)) and "by_key" in request.POST:
        note = note.strip() or CHOSEN_BY_KEY
    by, now = name_of(request), timezone.now()
    # What is decided may fit the list no longer, and has no place in it then.
    onward = _next_address(context, request, row)
    try:
        with context.unchanged(request, lambda: _seen(row)):
            if request.POST.get("labels"):
                vote = _given(row).get(request.POST["labels"])
                if vote is None:
                    raise ActionError("Choose one of this question's labels.")
                decide_labels(row, vote, note, by, now, context.parameters)
                messages.success(request, "Recorded: these labels hold. Nobody's reward changes.")
                return redirect(onward)
            if request.POST.get("decision") == VOTES:
                logged = follow_votes(verdict, note, by, now)
            elif request.POST.get("decision") == CORRECTED:
                base = _given(row).get(request.POST.get("base", ""))
                voting = voting_stages(context.parameters)[row.stage.name]
                if base is None or base.stage.name not in voting:
                    raise ActionError(
                        "Choose the vote whose answer is corrected: its evidence stays."
                    )
                typed = CorrectionInput(**{name: request.POST.get(name, "") for name in TYPED})
                payload = corrected(base, typed, context.collection.corpus)
                logged = correct(verdict, base, typed.type, payload, note, by, now)
            else:
                chosen, outcome = _chosen(request, context, row)
                logged = override_verdict(verdict, outcome, chosen, note, by, now)
    except ActionError as error:
        kept = {name: request.POST.get(name, "")[:MOST_WORDS] for name in KEPT}
        request.session[f"override {row.key}"] = {"note": note, **kept}
        messages.error(request, error.on_page)
    else:
        messages.success(request, f"Recorded: {_recorded(logged)} Nobody's reward changes.")
        if "by_key" in request.POST:
            return redirect(onward)
    return redirect(_address(context, request, key))


def _seen(row: Question) -> str:
    """Return the version of a question's answers, by letter, and of what was decided by hand.

    Letters move when an answer goes: a letter of an older page could mean another answer.
    """
    verdict = Verdict.objects.filter(question=row).first()
    hand = verdict.overrides.order_by("-pk").values_list("pk", flat=True).first() if verdict else 0
    decided = Answer.objects.filter(question=row).exclude(corrected_by="").order_by("pk")
    return version_of(
        [answer.pk for answer in _answers(row)], hand, list(decided.values_list("pk", flat=True))
    )


def _adjudicates(wanted: Filter) -> bool:
    """Return whether one decides question after question, each by one key."""
    return wanted.outcome in (ADJUDICATION, AGAIN, LABELS)


def _next_address(context: CollectionContext, request: HttpRequest, row: Question) -> str:
    """Return the address of the next question that waits to be adjudicated, or of the list."""
    wanted = Filter.of(request.GET)
    following = _neighbours(context, wanted, row).get("next")
    if following:
        return _address(context, request, following)
    return f"{context.url('questions')}?{wanted.address()}"


def _address(context: CollectionContext, request: HttpRequest, key: str) -> str:
    """Return the address of a question, among those that the list was showing."""
    query = Filter.of(request.GET).address()
    return context.url("question", key=key) + (f"?{query}" if query else "")


def _neighbours(context: CollectionContext, wanted: Filter, row: Question) -> dict[str, str]:
    """Return the keys of the questions before and after this one among those that fit."""
    keys = wanted.apply(context).values_list("key", flat=True)
    found: dict[str, str | None] = {}
    if wanted.sort:
        listed = ["", *keys.order_by(*wanted.order), ""]
        at = listed.index(row.key) if row.key in listed else 0
        if at:
            found = {"previous": listed[at - 1], "next": listed[at + 1]}
    else:
        found = {
            "previous": keys.filter(pk__lt=row.pk).order_by("-pk").first(),
            "next": keys.filter(pk__gt=row.pk).order_by("pk").first(),
        }
    return {name: key for name, key in found.items() if key}


@collection_page
@require_safe
def linked_article(request: HttpRequest, context: CollectionContext, key: str) -> HttpResponse:
    """Show one article that the question links to or that was marked in, with all marks on it."""
    row = _question(context, key)
    title = request.GET.get("title", "").replace("\x00", "")[:MAX_TITLE]
    texts = article_texts(context.collection.corpus, [title])
    if title not in texts:
        raise Http404
    corpus = context.collection.corpus
    spans = [
        (span["start"], span["end"], mark)
        for answer in _answers(row)
        for name, mark in (("context", "evidence"), ("spans", "answer"))
        for span in answer.payload.get(name) or ()
        if span.get("document") == title
    ]
    shown = Passage(title, "", corpus.language, corpus.direction, pieces(texts[title], spans))
    return context.render(
        request,
        "questions/linked_article.html",
        tab="questions",
        question=row,
        passage=shown,
        is_marked=bool(spans),
        back=_address(context, request, key),
    )


def _recorded(logged: Override) -> str:
    """Return where the question stands after a decision."""
    done = {
        Outcome.KEPT: "the question is in the dataset.",
        Outcome.DROPPED: "the question is excluded.",
        Outcome.WAITING: "the question waits for answers.",
    }[Outcome(logged.new_outcome)]
    return f"the verdict follows the votes again, and {done}" if logged.follows_votes else done


def _chosen(
    request: HttpRequest, context: CollectionContext, row: Question
) -> tuple[Answer | None, str]:
    """Return the vote by the letter that was picked, and the outcome it stands for."""
    picked = request.POST.get("decision", "")
    if picked == "drop":
        return None, Outcome.DROPPED
    answer = _given(row).get(picked)
    if answer is None or answer.stage.name not in voting_stages(context.parameters)[row.stage.name]:
        return None, Outcome.KEPT if picked else ""
    return answer, Outcome.KEPT


def _given(row: Question) -> dict[str, Answer]:
    """Return the answers to a question by their letters."""
    return {letter(place): answer for place, answer in enumerate(_answers(row))}


def letter(place: int) -> str:
    """Return what the vote at a place is called: A … Z, AA, AB …"""
    before, last = divmod(place, len(ascii_uppercase))
    return (letter(before - 1) if before else "") + ascii_uppercase[last]


def _question(context: CollectionContext, key: str) -> Question:
    rows = voted_questions(context).select_related("seed", "verdict", "stage", "split_assignment")
    return get_object_or_404(rows.prefetch_related(seed_paragraphs("seed")), key=key)


def _answers(row: Question) -> list[Answer]:
    rows = Answer.objects.filter(question=row, corrected_by="")
    rows = rows.select_related("question__seed", "stage")
    rows = rows.order_by("stage__position", *IN_ORDER)
    return list(rows.prefetch_related(seed_paragraphs("question__seed")))


def _votes(
    context: CollectionContext, row: Question, verdict: Verdict | None, people: People
) -> list[dict[str, Any]]:
    """Return the answers to a question; `second` marks a later reading that is no vote.

    `labels` marks one that labels the question; `holds` that its labels were decided on.
    """
    voting = voting_stages(context.parameters)[row.stage.name]
    given = readable(_answers(row), context.collection.corpus)
    labelling = stages_apart(context.parameters)
    decided = decisions_on(row, context.parameters) if labelling else []
    out = excluded_workers(context.collection)
    # In order: where the latest does not count, none holds.
    holding = {row.stage_id: row.corrects_id if is_counted(row, out) else None for row in decided}
    return [
        {
            "letter": letter(place),
            "who": people.name(each.answer.worker_id),
            "number": people.number(each.answer.worker_id),
            "given": each,
            "agrees": verdict is not None and each.answer.pk in verdict.agreeing,
            "released": verdict is not None and each.answer.pk == verdict.chosen_id,
            "second": each.answer.stage.name not in voting,
            "can_be_kept": each.answer.stage.name in voting and each.answer.type != "bad",
            "labels": each.answer.stage.name in labelling,
            "holds": each.answer.pk == holding.get(each.answer.stage_id),
        }
        for place, each in enumerate(given)
    ]


def _passages(row: Question, verdict: Verdict | None) -> list[Passage]:
    if "facts" in row.payload:
        return pair_passages(row, verdict.chosen if verdict else None)
    if kind_of(row.stage).cites_passages:
        return proven_passages(row, verdict.chosen if verdict else None)
    marked = [
        (span["start"], span["end"], "evidence")
        for span in row.payload.get("context") or ()
        if span.get("document", MAIN) == MAIN
    ]
    released = verdict.chosen.payload if verdict and verdict.chosen else {}
    answered = [
        (span["start"], span["end"], mark)
        for name, mark in (("spans", "answer"), ("plausible", "evidence"))
        for span in released.get(name) or ()
        if span.get("document") in OWN
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


def _line(question: Question) -> dict[str, Any]:
    """Return one question of the list; `answer` is what is released."""
    verdict = getattr(question, "verdict", None)
    chosen = verdict.chosen if verdict else None
    return {
        "question": question,
        "verdict": verdict,
        "answer": answer_text(chosen) if chosen else "",
        "type": type_words(chosen.type) if chosen else "",
        "n_agreeing": len(verdict.agreeing) if verdict else 0,
        "split_assignment": getattr(question, "split_assignment", None),
    }
