"""Builds what tests of the requester's pages start from: a browser, and work that was handed in."""

import re
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db.models import F
from django.test import Client
from django.utils import timezone

from annotation.models import Verdict
from collector.models import Collection, Corpus, Seed, Stage
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from collector.seeds.selection import select_seeds
from common.tests.forms import hidden_in
from tasks.ledger import payments
from tasks.models import (
    Answer,
    EmptySubmission,
    Grant,
    Lease,
    LeaseEvent,
    LeaseEventKind,
    LeaseState,
    Payment,
    PaymentKind,
    PaymentState,
    Qualification,
    Question,
    ReceiptState,
    RejectionState,
    Submission,
    Unit,
    UnitItem,
    Worker,
)
from tasks.paying import empty_submissions, rejections
from tasks.tests.deciding import listed
from tasks.tests.making import NOW, make_corpus, make_posting, make_session, make_worker

_people = count(1)


def plain(page: str) -> str:
    """Return a page with its sentences whole: without the mark that explains its first HIT."""
    return re.sub(r"</?abbr[^>]*>", "", page)


def once_in(page: str) -> str:
    """Return what names the page's form."""
    (found,) = re.findall(r'<input type="hidden" name="once" value="(\w+)"', page)
    return str(found)


def send(browser: Client, page: str, address: str, form: Any = None, **more: Any) -> Any:
    """Return the answer to the form of `page` that posts to `address`, filled in by `form`."""
    hidden = hidden_in(browser.get(page).content.decode(), address)
    return browser.post(address, hidden | (form or {}), **more)


def make_browser(**kwargs: Any) -> Client:
    """Return a browser on localhost."""
    return Client(HTTP_HOST="localhost", **kwargs)


def make_lines(settings: Any, corpus: Corpus | None = None) -> Collection:
    """Return a collection that was never published, of a small protocol that labels its texts."""
    folder = Path(settings.BASE_DIR) / "tests/protocols"
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, folder]
    made = create_collection(
        "lines",
        get_protocol("headline"),
        corpus or make_corpus(),
        overrides={},
        seed=3,
        now=NOW,
        budget_cents=10_000_000,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    if corpus is None:
        select_seeds(made, 3)
    return made


def make_lease(stage: Stage, worker: Worker | None = None, **fields: Any) -> Lease:
    """Return a lease on a unit of its own."""
    worker = worker or make_worker(f"P{next(_people)}")
    last = stage.units.order_by("-position").first()
    unit = Unit.objects.create(
        stage=stage, position=last.position + 1 if last else 0, redundancy=3, taken=1
    )
    now = timezone.now()
    fields = {"state": LeaseState.SUBMITTED, **fields}
    lease = Lease.objects.create(
        unit=unit,
        worker=worker,
        session=make_session(worker, make_posting(stage)),
        taken_at=now,
        expires_at=now + timedelta(hours=1),
        **fields,
    )
    LeaseEvent.objects.create(lease=lease, kind=LeaseEventKind.TAKEN)
    return lease


def make_submission(
    stage: Stage, worker: Worker | None = None, *, minutes: int = 20, reward: int = 400
) -> Submission:
    """Return work handed in at the stage, its reward due."""
    lease = make_lease(stage, worker)
    Unit.objects.filter(pk=lease.unit_id).update(submitted=1)
    LeaseEvent.objects.create(lease=lease, kind=LeaseEventKind.HANDED_IN)
    submission = Submission.objects.create(
        lease=lease,
        raw={},
        receipt=uuid4().hex,
        received_at=timezone.now(),
        active_seconds=minutes * 60,
    )
    Payment.objects.create(
        collection=stage.collection,
        stage=stage,
        worker=lease.worker,
        submission=submission,
        posting=lease.session.posting,
        kind=PaymentKind.REWARD,
        amount_cents=reward,
        key=f"test:{submission.pk}",
        created_at=submission.received_at,
    )
    return submission


def make_question(
    stage: Stage, seed: Seed | None = None, worker: Worker | None = None, **fields: Any
) -> Question:
    """Return a question on a seed of the collection, its evidence the passage's first words."""
    seed = seed or stage.collection.seeds.exclude(fold="").first()
    assert seed is not None
    submission = fields.pop("submission", None) or make_submission(stage, worker)
    paragraph = seed.seed_paragraphs.all()[0].paragraph
    words = paragraph.text[:12]
    payload = {
        "context": [{"document": "main", "start": 0, "end": 12, "text": words}],
        "links": [title for _, _, title in paragraph.links][:1],
    }
    key = uuid4().hex
    return Question.objects.create(
        **{
            "stage": stage,
            "submission": submission,
            "position": submission.questions.count(),
            "seed": seed,
            "worker": submission.lease.worker,
            "key": key,
            "text": f"How old is the founding place {key[:6]}?",
            "payload": payload,
            "created_at": submission.received_at,
            **fields,
        }
    )


def make_answer(
    question: Question,
    stage: Stage,
    type: str = "value",
    *,
    submission: Submission | None = None,
    **payload: Any,
) -> Answer:
    """Return an answer by somebody new, its evidence in the passage and in a linked article."""
    submission = submission or make_submission(stage, reward=300)
    paragraph = question.seed.seed_paragraphs.all()[0].paragraph
    evidence = [{"document": "main", "start": 0, "end": 7, "text": paragraph.text[:7]}]
    if paragraph.links:
        evidence.append({"document": paragraph.links[0][2], "start": 0, "end": 5, "text": "Place"})
    return Answer.objects.create(
        question=question,
        stage=stage,
        submission=submission,
        worker=submission.lease.worker,
        writer=question.worker,
        type=type,
        payload={"value": "12", "unit": "years", "context": evidence, **payload},
        created_at=submission.received_at,
    )


def make_verdict(question: Question, outcome: str = "dropped", **fields: Any) -> Verdict:
    """Return a verdict as the votes would have it."""
    return Verdict.objects.create(
        **{
            "question": question,
            "outcome": outcome,
            "reason": "no_agreement",
            "sentence": "The 3 annotators did not agree on an answer.",
            "n_votes": question.answers.count(),
            "decided_at": timezone.now(),
            **fields,
        }
    )


def make_attempt(stage: Stage, worker: Worker | None = None, *, items: int = 1) -> Grant:
    """Return a qualification submission that waits to be inspected: questions or answers."""
    submission = make_submission(stage, worker)
    if stage.kind == "question":
        for _ in range(items):
            make_question(stage, submission=submission)
    else:
        source = stage.collection.stages.get(name="question_qualification")
        for _ in range(items):
            question = make_question(source)
            UnitItem.objects.create(
                unit=submission.lease.unit,
                position=submission.lease.unit.items.count(),
                question=question,
            )
            make_answer(question, stage, submission=submission)
    qualification, _ = Qualification.objects.get_or_create(stage=stage)
    return Grant.objects.create(
        qualification=qualification,
        worker=submission.lease.worker,
        submitted_at=submission.received_at,
    )


def make_full(collection: Collection, number: int = 3) -> None:
    """Fill a collection with `number` of everything its pages show."""
    stages = {stage.name: stage for stage in collection.stages.select_related("collection")}
    for _ in range(number):
        make_attempt(stages["question_qualification"])
        make_attempt(stages["answer_qualification"])
        question = make_question(stages["question"])
        make_verdict(question, "kept", chosen=make_answer(question, stages["answer"]))


def make_confirmed(collection: Collection, **fields: Any) -> Submission:
    """Return work that waits to be paid, with a question in it, its reward in the budget."""
    stage = collection.stages.select_related("collection").get(name="question")
    submission = make_submission(stage)
    make_question(stage, submission=submission)
    fields = {"state": ReceiptState.CONFIRMED, "confirmed_at": timezone.now(), **fields}
    Submission.objects.filter(pk=submission.pk).update(**fields)
    Collection.objects.filter(pk=collection.pk).update(spent_cents=F("spent_cents") + 400)
    return submission


def make_empty_submission(collection: Collection) -> EmptySubmission:
    """Return what came to the marketplace without work, by somebody who never opened the page."""
    stage = collection.stages.select_related("collection").get(name="question")
    posting = make_posting(stage)
    now = timezone.now()
    row = listed(posting, submitted_at=now, auto_approval_at=now + timedelta(days=5))
    assert empty_submissions.record(posting, row, now)
    return EmptySubmission.objects.get(session__posting=posting)


def make_decisions(collection: Collection) -> list[Submission | EmptySubmission]:
    """Return one assignment for every state in which its pay can be."""
    now = timezone.now()
    works: list[Submission | EmptySubmission] = [make_confirmed(collection) for _ in range(5)]
    ends = [RejectionState.PROPOSED, RejectionState.AGREED, RejectionState.REJECTED]
    for work, state in zip(works, ends, strict=False):
        row = rejections.propose(work.session, "Every answer is copied.", "ada", now)
        if state != RejectionState.PROPOSED:
            rejections.confirm(row, "I have read it.", "grace", now)
            row.advance(state, by="the marketplace", why="Done.", now=now)
        if state == RejectionState.REJECTED:
            payments.change_state(work, [ReceiptState.DISPUTED], ReceiptState.REJECTED)
    refusal = "This operation can be called with a status of: Submitted"
    payments.change_state(works[3], [ReceiptState.CONFIRMED], ReceiptState.REFUSED, refusal=refusal)
    return [*works, make_empty_submission(collection)]


def make_refused_bonus(collection: Collection, refusal: str) -> Payment:
    """Return a bonus that the marketplace refused in these words, for work that was handed in."""
    submission = make_submission(collection.stages.get(name="question"))
    return Payment.objects.create(
        collection=collection,
        stage=submission.lease.unit.stage,
        worker=submission.lease.worker,
        lease=submission.lease,
        posting=submission.lease.session.posting,
        kind=PaymentKind.BONUS,
        amount_cents=150,
        state=PaymentState.REFUSED,
        refusal=refusal,
        key=f"test:bonus:{submission.pk}",
        created_at=submission.received_at,
    )
