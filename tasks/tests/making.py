"""Builds what tests of work start from: a small corpus, an open collection, people at work."""

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid4, uuid5

from collector.models import Article, Collection, Corpus, Paragraph, Section, Stage
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from collector.seeds.selection import select_seeds
from tasks.crowd import marketplace
from tasks.models import (
    Consent,
    Grant,
    GrantState,
    Identity,
    Lease,
    Posting,
    PostingState,
    Qualification,
    Session,
    Worker,
)
from tasks.work import units
from tests.recorded_rows import recorded

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SECRET = "entry-secret"
SMALL = {
    "pay.approve_after_hours": 0,
    "seeds.min_links": 2,
    "seeds.min_links_in_corpus": 2,
    "seeds.min_characters": 10,
    "question_qualification.items_per_hit": 1,
    "question_qualification.questions_per_hit": 1,
    "question_qualification.multi_link_questions": 0,
    "question.items_per_hit": 2,
    "question.questions_per_hit": 2,
    "question.multi_link_questions": 1,
    "answer_qualification.items_per_hit": 1,
    "answer.items_per_hit": 2,
    "human_performance.items_per_hit": 2,
}


def write_keys(folder: Path, settings: Any) -> None:
    """Give Collector a requester account whose marketplace is never called."""
    path = folder / "requester.json"
    keys = {"access_key_id": "KEY", "secret_access_key": "x" * 20, "entry_secret": SECRET}
    path.write_text(json.dumps(keys))
    settings.MTURK_KEYS_FILE = path


def make_corpus(articles: int = 12, slug: str = "hollin") -> Corpus:
    """Return a corpus of articles, each with one paragraph that links to the next two."""
    corpus = Corpus.objects.create(
        slug=slug, name="Hollin", language="en", site_name=slug, state="ready"
    )
    titles = [f"Place {number}" for number in range(articles)]
    rows = Article.objects.bulk_create(
        Article(corpus=corpus, page_id=number + 1, title=title, revision_id=1000 + number)
        for number, title in enumerate(titles)
    )
    sections = Section.objects.bulk_create(
        Section(article=article, position=0, level=1, heading="") for article in rows
    )
    texts = [_text_of(number, titles) for number in range(articles)]
    Paragraph.objects.bulk_create(
        Paragraph(
            article=section.article,
            section=section,
            position=0,
            text=text,
            links=links,
            n_links=2,
            n_links_in_corpus=2,
            sentences=[[0, text.index(". ") + 1], [text.index(". ") + 2, len(text)]],
            splitter="test",
        )
        for section, (text, links) in zip(sections, texts, strict=True)
    )
    return corpus


def _text_of(number: int, titles: list[str]) -> tuple[str, list[list[Any]]]:
    """Return the text of one article and its links to the next two."""
    first, second = (titles[(number + step) % len(titles)] for step in (1, 2))
    before = f"{titles[number]} was founded in {1200 + number} by people from "
    text = f"{before}{first} and {second}. It has {100 + number} houses."
    links = [
        [len(before), len(before) + len(first), first],
        [len(before) + len(first) + 5, len(before) + len(first) + 5 + len(second), second],
    ]
    return text, links


@recorded
def make_collection(
    corpus: Corpus | None = None,
    *,
    slug: str = "pilot",
    seeds: int = 4,
    budget_cents: int = 100_000,
    **overrides: Any,
) -> Collection:
    """Return an open collection with seeds and units; `overrides` use __ for the dot."""
    dotted = {name.replace("__", "."): value for name, value in overrides.items()}
    collection = create_collection(
        slug,
        get_protocol("iirc"),
        corpus or make_corpus(),
        overrides={**SMALL, **dotted},
        seed=7,
        now=NOW,
        title="Pilot",
        budget_cents=budget_cents,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    select_seeds(collection, seeds)
    collection.state = "collecting"
    collection.save()
    collection.stages.update(state="open")
    parameters = get_protocol("iirc").resolved(collection.parameters)
    for stage in collection.stages.all():
        units.bundle(stage, parameters)
    return collection


def stage_of(collection: Collection, name: str) -> Stage:
    """Return the collection's stage `name`."""
    return collection.stages.select_related("collection").get(name=name)


def make_worker(person: str = "AADA", *, qualified: tuple[Stage, ...] = ()) -> Worker:
    """Return a worker known to the marketplace as `person`, qualified for what `stages` open."""
    worker = Worker.objects.create(created_at=NOW)
    Identity.objects.create(
        worker=worker,
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        person=person,
    )
    for stage in qualified:
        qualification, _ = Qualification.objects.get_or_create(stage=stage)
        Grant.objects.create(
            qualification=qualification, worker=worker, state=GrantState.GRANTED, submitted_at=NOW
        )
    return worker


def name_qualification(name: str, **_values: str) -> str:
    """Return the id that a marketplace gives to a qualification type of this name."""
    return uuid5(NAMESPACE_URL, name).hex


def make_posting(stage: Stage, reward_cents: int = 400, reserved_cents: int = 400) -> Posting:
    """Return a live HIT of the stage whose money is reserved."""
    collection = stage.collection
    collection.refresh_from_db()
    collection.reserved_cents += reserved_cents
    collection.save()
    return Posting.objects.create(
        stage=stage,
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        token=uuid4(),
        external_id="H" + uuid4().hex[:20].upper(),
        external_type="T1",
        state=PostingState.LIVE,
        reward_cents=reward_cents,
        reserved_cents=reserved_cents,
        created_at=NOW,
        expires_at=NOW + timedelta(days=14),
    )


def make_session(worker: Worker, posting: Posting) -> Session:
    """Return the worker's stay on the HIT."""
    return Session.objects.create(
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        person=worker.identity.person,
        session_id="S" + uuid4().hex[:20].upper(),
        worker=worker,
        posting=posting,
        submit_url="http://127.0.0.1:8000/accepted/secret",
        started_at=NOW,
    )


def consent(worker: Worker, collection: Collection) -> None:
    """Let the worker agree to the collection's consent text."""
    text = collection.texts.get(name="consent")
    Consent.objects.create(worker=worker, text=text, agreed=True, at=NOW)


def entry_query(posting: Posting, person: str, *, expires: datetime, **changed: str) -> str:
    """Return the signed query string of a HIT's frame, with what a test wants `changed` after."""
    claims = {
        "assignmentId": changed.pop("assignment", "A1"),
        "hitId": posting.external_id,
        "workerId": person,
        "entryExpires": str(int(expires.timestamp())),
    }
    signature = hmac.new(SECRET.encode(), "\n".join(claims.values()).encode(), hashlib.sha256)
    return urlencode(
        {
            **claims,
            "turkSubmitTo": "http://127.0.0.1:8000/accepted/secret",
            "entrySignature": signature.hexdigest(),
            **changed,
        }
    )


def questions_for(lease: Lease, *, number: int = 2) -> dict[str, Any]:
    """Return what a worker may well write: valid questions on the lease's first paragraph."""
    item = lease.unit.items.order_by("position").first()
    assert item is not None
    paragraph = item.the_seed().seed_paragraphs.all()[0].paragraph
    titles = [title for _, _, title in paragraph.links]
    return {
        "questions": [
            {
                "item": str(item.position),
                "text": f"Which of the two founding places is older, number {count}?",
                "context": [{"start": 0, "end": 10}],
                "links": titles,
            }
            for count in range(number)
        ]
    }
