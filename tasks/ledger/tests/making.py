"""A collection of pairs, and people who write about them."""

from datetime import datetime
from typing import Any

from collector.models import Collection, Paragraph
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import Candidate
from collector.seeds.selection import store_seeds
from tasks import hits
from tasks.models import Lease, PostingState, ReceiptState, Submission, Worker
from tasks.tests.making import NOW, make_corpus, make_session, stage_of
from tasks.work import leases, submissions, units
from tests.recorded_rows import recorded

# Rounds of four questions, blocks of three: small enough to be written by hand.
SMALL = {
    "pay.approve_after_hours": 0,
    "question.items_per_hit": 2,
    "question.max_skips": 1,
    "question.bonuses.top_every_examples": 4,
    "question.bonuses.top_cents": [500, 200],
    "question.bonuses.block_examples": 3,
    "question.bonuses.wait_hours": 0,
    "question.bonuses.paces": [
        {"examples_per_hour": 10, "cents": 50},
        {"examples_per_hour": 60, "cents": 100},
    ],
}


@recorded
def make_pairs(seeds: int = 8, *, budget_cents: int = 100_000, **overrides: Any) -> Collection:
    """Return an open collection of pairs; `overrides` use __ for the dot."""
    dotted = {name.replace("__", "."): value for name, value in overrides.items()}
    collection = create_collection(
        "pairs",
        get_protocol("hotpotqa"),
        make_corpus(),
        overrides={**SMALL, **dotted},
        seed=7,
        now=NOW,
        title="Pairs",
        budget_cents=budget_cents,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    rows = list(Paragraph.objects.order_by("id").values_list("pk", flat=True))
    chosen = [
        Candidate(f"{number}", "", (rows[number], rows[number + 1]), dict(PAYLOAD))
        for number in range(seeds)
    ]
    store_seeds(collection, [(one, at, "question", "") for at, one in enumerate(chosen, 1)])
    collection.state = "collecting"
    collection.save()
    collection.stages.update(state="open")
    bundle(collection)
    return collection


PAYLOAD = {"type": "bridge", "form": "any", "set": "places"}


def bundle(collection: Collection) -> int:
    """Return how many units were made of what waits."""
    return units.bundle(stage_of(collection, "question"), parameters_of(collection))


def begin(collection: Collection, worker: Worker, now: datetime = NOW) -> Lease:
    """Return the worker's new stay, on a HIT whose money is held."""
    stage = stage_of(collection, "question")
    hits.plan_postings(stage, now)
    posting = stage.postings.filter(state=PostingState.PUBLISHING).first()
    assert posting is not None
    posting.state, posting.external_id = PostingState.LIVE, f"H{posting.pk}"
    posting.save()
    lease = leases.claim(make_session(worker, posting), stage, now)
    assert lease is not None
    return lease


def hand_in(lease: Lease, *, skipped: int = 0, seconds: int = 600) -> Submission:
    """Hand in a stay after that much work, its first pairs `skipped`; it is approved."""
    entries = []
    for number, item in enumerate(lease.unit.items.order_by("position")):
        entry: dict[str, Any] = {"item": str(item.position), "skipped": number < skipped}
        if number < skipped:
            entry |= {"reason": "One paragraph says too little."}
        else:
            entry |= {"reason": "", "text": f"Which place is older, in pair {item.seed_id}?"}
            entry |= {"type": "span", "facts": [[0, 0], [1, 1]]}
            entry |= {"spans": [{"document": "1", "start": 0, "end": 5, "text": "Place"}]}
        entries.append(entry)
    Lease.objects.filter(pk=lease.pk).update(active_seconds=seconds, draft_saved_at=NOW)
    lease.refresh_from_db()
    submission = submissions.hand_in(lease, {"pairs": entries}, NOW, synthetic=False)
    Submission.objects.filter(pk=submission.pk).update(state=ReceiptState.APPROVED)
    submission.refresh_from_db()
    return submission
