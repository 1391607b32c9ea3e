"""Prepares what the page benchmark asks for: people at work on HITs of ten real-size paragraphs."""

import json
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

from django.utils import timezone

from tasks import leases
from tasks.pages.tokens import lease_token
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

SUBMIT_TO = "http://127.0.0.1:9/accepted/secret"
TEN = {"question__items_per_hit": 10, "question__questions_per_hit": 10}


def prepare(folder: str, number: int) -> None:
    """Write work.json: one page address, token and valid submission per request."""
    write_keys(Path(folder), SimpleNamespace())
    corpus = make_corpus(10 * number + 20)
    collection = make_collection(corpus, seeds=10 * number, budget_cents=10**9, **TEN)
    stage = stage_of(collection, "question")
    qualification = stage_of(collection, "question_qualification")
    soon = timezone.now() + timedelta(hours=5)
    rows = []
    for person in range(number):
        name = f"A{person}"
        worker = make_worker(name, qualified=(qualification,))
        consent(worker, collection)
        posting = make_posting(stage)
        session = make_session(worker, posting)
        session.submit_url = SUBMIT_TO
        session.save()
        lease = leases.claim(session, stage, timezone.now())
        assert lease is not None
        query = entry_query(
            posting, name, expires=soon, assignment=session.session_id, turkSubmitTo=SUBMIT_TO
        )
        rows.append(
            {
                "page": f"/hit/?{query}",
                "token": lease_token(lease),
                "data": questions_for(lease, number=10),
            }
        )
    (Path(folder) / "work.json").write_text(json.dumps(rows))
