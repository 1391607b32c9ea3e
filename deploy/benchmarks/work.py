"""Prepares what the page benchmarks ask for: people with HITs of ten paragraphs."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

from django.utils import timezone

from collector.models import Stage
from tasks.models import Posting, Worker
from tasks.people.lease_context import lease_token
from tasks.tests.making import (
    consent,
    entry_query,
    make_collection,
    make_corpus,
    make_posting,
    make_session,
    make_worker,
    questions_for,
    stage_of,
    write_keys,
)
from tasks.work import leases

ASSIGNMENT = "A1"
SUBMIT_TO = "http://127.0.0.1:9/accepted/secret"
TEN = {"question__items_per_hit": 10, "question__questions_per_hit": 10}


def prepare(folder: str, number: int) -> None:
    """Write work.json: for each request two people and what they send.

    One is at work: their page, token and a valid submission. The other has accepted a HIT and
    not opened it yet: their page takes the work.
    """
    write_keys(Path(folder), SimpleNamespace())
    corpus = make_corpus(20 * number + 20)
    collection = make_collection(corpus, seeds=20 * number, budget_cents=10**9, **TEN)  # type: ignore[arg-type]
    stage = stage_of(collection, "question")
    qualification = stage_of(collection, "question_qualification")
    rows = []
    for person in range(number):
        worker, posting, page = _accepted(f"A{person}", stage, qualification)
        session = make_session(worker, posting)
        session.session_id, session.submit_url = ASSIGNMENT, SUBMIT_TO
        session.save()
        lease = leases.claim(session, stage, timezone.now())
        assert lease is not None
        _, _, arrival = _accepted(f"B{person}", stage, qualification)
        token, data = lease_token(lease), questions_for(lease, number=10)
        rows.append({"page": page, "arrival": arrival, "token": token, "data": data})
    (Path(folder) / "work.json").write_text(json.dumps(rows))


def _accepted(person: str, stage: Stage, qualification: Stage) -> tuple[Worker, Posting, str]:
    """Return somebody qualified, the HIT they have accepted, and their page's address."""
    worker = make_worker(person, qualified=(qualification,))
    consent(worker, stage.collection)
    posting = make_posting(stage)
    soon = timezone.now() + timedelta(hours=5)
    query = entry_query(
        posting, person, expires=soon, assignment=ASSIGNMENT, turkSubmitTo=SUBMIT_TO
    )
    return worker, posting, f"/hit/?{query}"
