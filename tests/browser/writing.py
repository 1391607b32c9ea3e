"""Hands in questions of a writer of the tests' own, so that there is something to answer."""

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from collector.models import Stage
from tasks.crowd import marketplace
from tasks.lifecycle.maintenance import maintain
from tasks.models import (
    Grant,
    GrantState,
    Identity,
    Lease,
    Posting,
    PostingState,
    Session,
    Worker,
)
from tasks.work import leases, submissions
from tasks.work.kinds.registry import kind_of

ASKED = (
    "How many years before the {0} was it that this came about?",
    "Which of the two was founded first, the {0} or the {1}?",
    "Was the {0} still there when {1} was named <b>after</b> it?",
    "Who held the office that is named here in the year in which the {0} opened, and how long had "
    "that person held it by the time that the events told in the second half of this paragraph, "
    "which nobody at the {1} had foreseen, were over and done with?",
)


def hand_in_questions(slug: str) -> None:
    """Let the writer ask one question on each paragraph, pass, and have them put up for answers."""
    stage = Stage.objects.select_related("collection").get(
        collection__slug=slug, name="question_qualification"
    )
    lease = _lease(stage)
    found = submissions.examine(lease, {"questions": _questions(lease)}, _items(lease))
    assert not found.problems, found.problems
    submissions.hand_in(lease, found.data, timezone.now(), synthetic=True)
    # The marketplace does not know this writer, so it is told of no decision.
    Grant.objects.filter(worker=lease.worker).update(
        state=GrantState.GRANTED, told_state=GrantState.GRANTED
    )
    maintain(stage.collection, timezone.now())


def _lease(stage: Stage) -> Lease:
    now = timezone.now()
    worker = Worker.objects.create(created_at=now, synthetic=True)
    place = {"provider": marketplace.PROVIDER, "environment": marketplace.environment()}
    Identity.objects.create(worker=worker, person="WRITER", **place)
    posting = Posting.objects.create(
        stage=stage,
        token=uuid4(),
        external_id=f"H{uuid4().hex.upper()}",
        state=PostingState.LIVE,
        reward_cents=120,
        created_at=now,
        expires_at=now + timedelta(days=1),
        **place,
    )
    session = Session.objects.create(
        person="WRITER",
        session_id="WRITING",
        worker=worker,
        posting=posting,
        submit_url="http://127.0.0.1/accepted/secret",
        started_at=now,
        **place,
    )
    lease = leases.claim(session, stage, now)
    assert lease
    return lease


def _items(lease: Lease) -> list[dict]:
    return kind_of(lease.unit.stage).page_items(lease.unit)


def _questions(lease: Lease) -> list[dict]:
    questions = []
    for number, item in enumerate(_items(lease)):
        titles = list(dict.fromkeys(link["title"] for link in item["links"]))[:2]
        questions.append(
            {
                "item": item["id"],
                "text": ASKED[number % len(ASKED)].format(*titles),
                "context": [{"start": 0, "end": len(item["text"].split(" ", 4)[0])}],
                "links": titles,
            }
        )
    return questions
