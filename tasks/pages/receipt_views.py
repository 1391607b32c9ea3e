"""What a worker sent with one HIT, to read again: the receipt is the key to it alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from tasks.models import Answer, Grant, Identity, Lease, Submission, Turn
from tasks.pages import notice_pages
from tasks.work.kinds.voting import answer_text, type_words
from tasks.work.passages import paragraphs_of, section_of


@dataclass(frozen=True)
class Piece:
    """One thing that was written: `about` is the question it answers, "" where it is one itself.

    `quotes` are the words marked as its evidence, `links` the links picked.
    """

    about: str
    text: str
    quotes: list[str]
    links: list[str]


@never_cache
@require_safe
def sent(request: HttpRequest, receipt: str) -> HttpResponse:
    """Show what was handed in with a receipt, until its worker is erased."""
    rows = Submission.objects.select_related("lease__unit__stage__collection__corpus")
    submission = rows.filter(receipt=receipt).first()
    named = Identity.objects.filter(worker__leases__submission=submission)
    if submission is None or not named.exists():
        return notice_pages.notice(
            request,
            "Nothing to show here",
            "No work was handed in under this address, or it was erased.",
            status=404,
        )
    lease, collection = submission.lease, submission.lease.unit.stage.collection
    # Of a try-out; there is none for other work and while nobody has decided.
    grants = Grant.objects.filter(worker=lease.worker_id, qualification__stage=lease.unit.stage_id)
    return render(
        request,
        "hits/sent.html",
        {
            "title": "What you sent",
            "collection": collection,
            "corpus": collection.corpus,
            "received_at": submission.received_at,
            "pieces": list(pieces_of(submission)),
            "decided": grants.exclude(decided_at=None).first(),
        },
    )


def pieces_of(submission: Submission) -> Iterator[Piece]:
    """Yield what was written, in the order of the page it was written on; what was skipped last."""
    answers = submission.answers.select_related("question").order_by("id")
    # Of a pair the same worker asks and answers: that is one piece.
    own = {one.question_id: one for one in answers if one.question.submission_id == submission.pk}
    for question in submission.questions.order_by("position"):
        if question.pk in own:
            yield _answered(own[question.pk])
        else:
            yield Piece("", question.text, *_marked(question.payload))
    for answer in answers:
        if answer.question_id not in own:
            yield _answered(answer)
    for skip in submission.skips.order_by("id"):
        titles = (one["title"] for one in paragraphs_of([skip.seed_id])[skip.seed_id].paragraphs)
        yield Piece(f"Skipped: {' · '.join(titles)}", skip.reason, [], [])
    yield from _turns(submission.lease)


def _answered(answer: Answer) -> Piece:
    given = answer_text(answer) or type_words(answer.type)
    quotes, links = _marked(answer.payload)
    return Piece(answer.question.text, given, [*quotes, *_proof(answer)], links)


def _marked(payload: dict[str, Any]) -> tuple[list[str], list[str]]:
    quotes = [span["text"] for span in payload.get("context") or () if span.get("text")]
    return quotes, [str(link) for link in payload.get("links") or ()]


def _proof(answer: Answer) -> Iterator[str]:
    """Yield the sentences that were picked as proof, where a pair asks for them."""
    facts = answer.payload.get("facts") or ()
    if not facts:
        return
    shown = paragraphs_of([answer.question.seed_id])[answer.question.seed_id].paragraphs
    for place, sentence in facts:
        start, end = shown[place]["sentences"][sentence]
        yield shown[place]["text"][start:end]


def _turns(lease: Lease) -> Iterator[Piece]:
    mine = Q(dialog__student_ticket__lease=lease) | Q(dialog__teacher_ticket__lease=lease)
    for turn in Turn.objects.filter(mine).select_related("dialog__topic").order_by("id"):
        text = "Not answered"
        if turn.answered_at:
            section = section_of(turn.dialog.topic.seed_id)
            text = section.text[turn.start : turn.end] if turn.end else type_words("none")
        yield Piece(turn.question, text, [], [])
