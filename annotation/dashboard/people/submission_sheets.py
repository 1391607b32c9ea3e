"""A qualification submission laid out for reading: what was written, in its context."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.dashboard.questions.passages import OWN, Passage, passage, seed_paragraphs
from annotation.dashboard.questions.readable_answers import ReadableAnswer, readable
from collector.models import Corpus, Stage
from tasks.models import Answer, Question, Submission
from tasks.widgets.spans import MAIN


@dataclass(frozen=True)
class WrittenQuestion:
    """A question with its number on the sheet, by which its evidence is marked."""

    number: int
    question: Question
    links: Sequence[str]


@dataclass(frozen=True)
class Sheet:
    """One passage and what was made of it: questions written, or answers given."""

    passage: Passage
    questions: Sequence[WrittenQuestion] = ()
    answers: Sequence[ReadableAnswer] = ()


def submission_of(stage: Stage, worker_id: str) -> Submission | None:
    """Return what the worker handed in at a qualifying stage; one query."""
    rows = Submission.objects.filter(lease__unit__stage=stage, lease__worker_id=worker_id)
    return rows.select_related("lease").order_by("-counts", "-id").first()


def sheets_of(submission: Submission, corpus: Corpus) -> list[Sheet]:
    """Return the submission's work by passage, in the order of the page it was done on."""
    questions = _questions(submission)
    return _question_sheets(questions) if questions else _answer_sheets(submission, corpus)


def _questions(submission: Submission) -> list[Question]:
    rows = submission.questions.select_related("seed").order_by("position")
    return list(rows.prefetch_related(seed_paragraphs("seed")))


def _question_sheets(questions: list[Question]) -> list[Sheet]:
    by_seed: dict[int, list[WrittenQuestion]] = {}
    for number, question in enumerate(questions, start=1):
        written = WrittenQuestion(number, question, question.payload.get("links") or ())
        by_seed.setdefault(question.seed_id, []).append(written)
    return [
        Sheet(passage(written[0].question.seed, _evidence(written)), questions=written)
        for written in by_seed.values()
    ]


def _evidence(written: list[WrittenQuestion]) -> list[tuple[int, int, str]]:
    return [
        (span["start"], span["end"], str(row.number))
        for row in written
        for span in row.question.payload.get("context") or ()
        if span.get("document", MAIN) in OWN
    ]


def _answer_sheets(submission: Submission, corpus: Corpus) -> list[Sheet]:
    rows = Answer.objects.filter(submission=submission).select_related("question__seed")
    rows = rows.order_by("id").prefetch_related(seed_paragraphs("question__seed"))
    return [
        Sheet(passage(row.answer.question.seed, _answer_marks(row.answer)), answers=[row])
        for row in readable(rows, corpus)
    ]


def _answer_marks(answer: Answer) -> list[tuple[int, int, str]]:
    payload = answer.payload
    return [
        (span["start"], span["end"], mark)
        for name, mark in (("context", "evidence"), ("spans", "answer"))
        for span in payload.get(name) or ()
        if span.get("document", MAIN) in OWN
    ]
