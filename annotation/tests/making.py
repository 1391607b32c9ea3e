"""Small builders of rows for tests: a corpus, a collection over it, questions, answers, releases.

All take what a test cares about and fill in the rest; the cast's names are worker ids.
"""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from annotation.models import Verdict
from collector.models import (
    Article,
    Collection,
    Corpus,
    Paragraph,
    Section,
    Seed,
    SeedParagraph,
    Stage,
)
from collector.protocols.loading import get_protocol
from tasks.models import (
    Answer,
    Lease,
    LeaseEvent,
    LeaseEventKind,
    LeaseState,
    Posting,
    Question,
    ReceiptState,
    Session,
    Submission,
    Unit,
    Worker,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_numbers = count(1)


def make_corpus(slug: str = "hollin", **values: Any) -> Corpus:
    """Return a ready corpus without articles."""
    return Corpus.objects.create(
        slug=slug,
        **{
            "name": "The Hollin encyclopaedia",
            "language": "en",
            "site_name": "Hollin",
            "base_url": "https://hollin.example/wiki/Main_Page",
            "licence_name": "CC BY-SA 4.0",
            "licence_url": "https://creativecommons.org/licenses/by-sa/4.0/",
            "source": "hollin.xml",
            "state": "ready",
            **values,
        },
    )


def make_article(
    corpus: Corpus, title: str, *paragraphs: str | tuple[str, list[Any]], **values: Any
) -> Article:
    """Return an article of a lead section; a paragraph is its text, or its text and links."""
    number = corpus.articles.count() + 1
    article = Article.objects.create(
        corpus=corpus, page_id=number, title=title, revision_id=1000 + number, **values
    )
    if article.kind == "article":
        section = Section.objects.create(article=article, position=0, level=0)
        for position, given in enumerate(paragraphs):
            text, links = (given, []) if isinstance(given, str) else given
            Paragraph.objects.create(
                article=article,
                section=section,
                position=position,
                text=text,
                links=links,
                n_links=len({target for _, _, target in links}),
            )
    return article


def make_collection(
    corpus: Corpus | None = None, slug: str = "pilot", protocol: str = "iirc", **values: Any
) -> Collection:
    """Return a collection with the stages of its protocol; `parameters` are dotted overrides."""
    changed = {"pay.approve_after_hours": 0, **(values.pop("parameters", None) or {})}
    parameters = get_protocol(protocol).parameters(changed)
    collection = Collection.objects.create(
        slug=slug,
        protocol=protocol,
        protocol_version=parameters.protocol.version,
        corpus=corpus or make_corpus(),
        parameters=parameters.model_dump(mode="json"),
        **{
            "title": "The pilot",
            "random_seed": 7,
            "state": "collecting",
            "requester_name": "Rita",
            "requester_contact": "rita@hollin.example",
            "pseudonym_key": "k" * 64,
            "budget_cents": 100_000,
            "created_at": NOW,
            **values,
        },
    )
    Stage.objects.bulk_create(
        Stage(collection=collection, name=name, kind=table.kind, position=position)
        for position, (name, table) in enumerate(parameters.stages().items())
    )
    return collection


def make_worker(name: str = "ada", **values: Any) -> Worker:
    """Return the worker with this id, made now or before."""
    return Worker.objects.get_or_create(id=name, defaults={"created_at": NOW, **values})[0]


def make_seed(
    collection: Collection, paragraph: Paragraph, fold: str = "train", stage: str = "question"
) -> Seed:
    """Return a seed of one paragraph."""
    position = collection.seeds.count() + 1
    seed = Seed.objects.create(
        collection=collection,
        key=f"seed{position:04}",
        position=position,
        fold=fold,
        stage=collection.stages.get(name=stage),
    )
    SeedParagraph.objects.create(seed=seed, paragraph=paragraph, position=0)
    return seed


def make_submission(
    stage: Stage, worker: str = "ada", *, seconds: int = 600, synthetic: bool = False
) -> Submission:
    """Return a confirmed submission with the unit, posting, session and lease behind it."""
    number = next(_numbers)
    person = make_worker(worker, synthetic=synthetic)
    # By the rows of this very test: however long others have run, all is on one day.
    at = NOW + timedelta(minutes=Submission.objects.count() + 1)
    unit = Unit.objects.create(
        stage=stage, position=stage.units.count(), redundancy=1, taken=1, submitted=1
    )
    posting = Posting.objects.create(
        stage=stage,
        provider="marketplace",
        environment="test",
        token=uuid4(),
        reward_cents=300,
        created_at=at,
        expires_at=at + timedelta(days=1),
    )
    session = Session.objects.create(
        provider="marketplace",
        environment="test",
        person=f"person {worker}",
        session_id=f"session {number}",
        worker=person,
        posting=posting,
        submit_url="http://127.0.0.1/submit",
        started_at=at,
    )
    lease = Lease.objects.create(
        unit=unit,
        worker=person,
        session=session,
        state=LeaseState.SUBMITTED,
        taken_at=at,
        closed_at=at + timedelta(seconds=seconds),
        expires_at=at + timedelta(hours=2),
    )
    LeaseEvent.objects.create(lease=lease, kind=LeaseEventKind.TAKEN)
    LeaseEvent.objects.create(lease=lease, kind=LeaseEventKind.HANDED_IN)
    return Submission.objects.create(
        lease=lease,
        raw={},
        receipt=f"receipt {number}",
        state=ReceiptState.CONFIRMED,
        synthetic=synthetic,
        received_at=at + timedelta(seconds=seconds),
        active_seconds=seconds,
    )


def make_question(
    seed: Seed,
    text: str = "Which river runs through the town?",
    *,
    worker: str = "ada",
    links: tuple[str, ...] = (),
    context: tuple[Any, ...] = (),
    submission: Submission | None = None,
    **values: Any,
) -> Question:
    """Return a question about the seed, in the stage that the seed is for."""
    stage = seed.stage
    number = stage.questions.count()
    return Question.objects.create(
        stage=stage,
        submission=submission,
        seed=seed,
        worker=make_worker(worker),
        text=text,
        payload={"context": list(context), "links": list(links)},
        created_at=NOW,
        **{"position": number, "key": f"question{number:04}", **values},
    )


def make_answer(
    question: Question,
    type: str = "none",
    *,
    worker: str = "grace",
    stage: str = "answer",
    submission: Submission | None = None,
    synthetic: bool = False,
    **payload: Any,
) -> Answer:
    """Return an answer handed in by `worker`; `payload` names spans, value, unit, yes_no, …"""
    of = question.stage.collection.stages.get(name=stage)
    submission = submission or make_submission(of, worker, synthetic=synthetic)
    empty = {"spans": [], "value": "", "unit": "", "yes_no": None, "reason": "", "context": []}
    return Answer.objects.create(
        question=question,
        stage=of,
        submission=submission,
        worker_id=submission.lease.worker_id,
        writer_id=question.worker_id,
        type=type,
        payload={**empty, **payload},
        synthetic=synthetic,
        created_at=submission.received_at,
    )


def make_verdict(question: Question, chosen: Answer | None = None, **values: Any) -> Verdict:
    """Return a verdict: kept with the chosen answer, dropped without one."""
    return Verdict.objects.create(
        question=question,
        chosen=chosen,
        n_votes=question.answers.count(),
        decided_at=NOW,
        **{
            "outcome": "kept" if chosen else "dropped",
            "reason": "agreed" if chosen else "no_agreement",
            "sentence": "So it was decided.",
            "agreeing": [chosen.pk] if chosen else [],
            **values,
        },
    )


def span(document: str, text: str, within: str) -> dict[str, Any]:
    """Return the span of the first `text` in the text `within` of `document`."""
    start = within.index(text)
    return {"document": document, "start": start, "end": start + len(text), "text": text}
