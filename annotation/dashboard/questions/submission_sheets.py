"""A submission laid out for reading: what was written, marked or said, beside its passage."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from django.db.models import Prefetch, Q, QuerySet

from annotation.dashboard.questions.passages import OWN, Passage, passage, seed_paragraphs
from annotation.dashboard.questions.readable_answers import ReadableAnswer, readable
from collector.models import Corpus, Stage
from tasks.models import Answer, Dialog, Question, Submission
from tasks.work.answer_summary import answer_text, type_words, written_beside
from tasks.work.widgets.spans import MAIN

# What an answer has marked: its words, and those that only look like it.
MARKED = ("spans", "plausible")


@dataclass(frozen=True)
class WrittenQuestion:
    """A question with its number on the sheet, by which its evidence is marked.

    `answers` holds its writer's own answer, where asking and answering are one act.
    """

    number: int
    question: Question
    links: Sequence[str]
    answers: Sequence[Answer] = ()

    @property
    def own(self) -> list[tuple[str, str]]:
        """Return what its writer filled in beside it, by the name of the field, and answered."""
        answered = [("Answer", answer_text(one) or type_words(one.type)) for one in self.answers]
        return [*written_beside(self.question), *answered]


@dataclass(frozen=True)
class GivenAnswer:
    """An answer with its number on the sheet, by which its words are marked; 0 if alone."""

    number: int
    answer: ReadableAnswer


@dataclass(frozen=True)
class Sheet:
    """One passage and what was made of it: questions written, or answers given.

    Of a dialog both partners' sheets hold all of it: the questions with their answers.
    """

    passage: Passage
    questions: Sequence[WrittenQuestion] = ()
    answers: Sequence[GivenAnswer] = ()


def submission_of(stage: Stage, worker_id: str) -> Submission | None:
    """Return what the worker handed in at a qualifying stage; one query."""
    rows = Submission.objects.filter(lease__unit__stage=stage, lease__worker_id=worker_id)
    return rows.select_related("lease").order_by("-counts", "-id").first()


def sheets_of(submission: Submission, corpus: Corpus) -> list[Sheet]:
    """Return the submission's work by passage, in the order of the page it was done on."""
    if questions := _questions(submission):
        return _question_sheets(questions)
    answers = Answer.objects.filter(submission=submission).order_by("id")
    return _answer_sheets(answers, corpus) or _answer_sheets(_said(submission), corpus)


def _questions(submission: Submission) -> list[Question]:
    rows = submission.questions.select_related("seed").order_by("position")
    own = Prefetch("answers", Answer.objects.filter(submission=submission), to_attr="own_answers")
    return list(rows.prefetch_related(seed_paragraphs("seed"), own))


def _question_sheets(questions: list[Question]) -> list[Sheet]:
    by_seed: dict[int, list[WrittenQuestion]] = {}
    for number, question in enumerate(questions, start=1):
        links, own = question.payload.get("links") or (), question.own_answers  # type: ignore[attr-defined]
        written = WrittenQuestion(number, question, links, own)
        by_seed.setdefault(question.seed_id, []).append(written)
    return [
        Sheet(passage(written[0].question.seed, _evidence(written)), questions=written)
        for written in by_seed.values()
    ]


def _evidence(written: list[WrittenQuestion]) -> list[tuple[int, int, str]]:
    return [
        (span["start"], span["end"], str(row.number))
        for row in written
        for marked in (
            row.question.payload.get("context"),
            *(one.payload.get(name) for one in row.answers for name in MARKED),
        )
        for span in marked or ()
        if span.get("document", MAIN) in OWN
    ]


def _answer_sheets(answers: QuerySet[Answer], corpus: Corpus) -> list[Sheet]:
    rows = answers.select_related("question__seed").prefetch_related(
        seed_paragraphs("question__seed")
    )
    by_seed: dict[int, list[ReadableAnswer]] = {}
    for row in readable(rows, corpus):
        by_seed.setdefault(row.answer.question.seed_id, []).append(row)
    numbers = count(1)
    return [
        _answer_sheet([GivenAnswer(next(numbers) if len(given) > 1 else 0, row) for row in given])
        for given in by_seed.values()
    ]


def _answer_sheet(given: Sequence[GivenAnswer]) -> Sheet:
    marks = [mark for row in given for mark in _answer_marks(row)]
    return Sheet(passage(given[0].answer.answer.question.seed, marks), answers=given)


def _said(submission: Submission) -> QuerySet[Answer]:
    """Return the answers of every dialog that was had with this submission's ticket."""
    lease = submission.lease_id
    mine = Q(student_ticket__lease=lease) | Q(teacher_ticket__lease=lease)
    said = Q(pk__in=())
    for dialog in Dialog.objects.filter(mine).select_related("topic"):
        said |= Q(
            question__stage=dialog.stage_id,
            question__seed=dialog.topic.seed_id,
            question__worker=dialog.student_id,
            worker=dialog.teacher_id,
        )
    return Answer.objects.filter(said).order_by("question__created_at", "question__position")


def _answer_marks(given: GivenAnswer) -> Iterable[tuple[int, int, str]]:
    payload = given.answer.answer.payload
    for name, mark in (("context", "evidence"), ("spans", "answer")):
        for span in payload.get(name) or ():
            if span.get("document", MAIN) in OWN:
                yield span["start"], span["end"], mark
                if mark == "answer" and given.number:
                    yield span["start"], span["end"], str(given.number)
