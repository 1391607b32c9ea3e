"""Builds what tests of dialogs start from: sections to talk about, and people who wait."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from collector.models import Article, Collection, Corpus, Paragraph, Section, Seed, Stage
from collector.models.collection import SeedParagraph
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import get_protocol
from tasks.dialog import presence, waiting_room
from tasks.models import Lease, Ticket, Worker
from tasks.tests.making import NOW, make_posting, make_session, make_worker, stage_of
from tasks.work import leases, units
from tests.recorded_rows import recorded

TEXT = (
    "He was born in Hollin in 1921. His mother played the organ there. In 1940 he left for Arden, "
    "where he worked as a printer. He wrote his first song in 1944 and sold it for nine pounds."
)
# What tests count with, whatever the protocol's own numbers become.
NUMBERS = {
    "pay.approve_after_hours": 0,
    "dialog.move_minutes": 6,
    "dialog.allotted_minutes": 170,
    "dialog.wait_minutes": 15,
    "dialog.wait_cents_per_minute": 15,
    "dialog.ready_seconds": 45,
    "dialog.grace_seconds": 60,
    "dialog.reward_cents": 30,
    "dialog.turn_cents": list(range(5, 17)),
}


def make_sections(number: int, slug: str = "lives") -> Corpus:
    """Return a corpus of articles, each with a background and a section of two paragraphs."""
    corpus = Corpus.objects.create(
        slug=slug, name="Lives", language="en", site_name=slug, state="ready"
    )
    for count in range(number):
        title = f"Person {count}"
        article = Article.objects.create(
            corpus=corpus, page_id=count + 1, title=title, revision_id=100 + count
        )
        lead = Section.objects.create(article=article, position=0, level=1, heading="")
        life = Section.objects.create(article=article, position=1, level=2, heading="Early life")
        first, second = TEXT[: TEXT.index(" In 1940")], TEXT[TEXT.index("In 1940") :]
        for position, (section, text) in enumerate(
            [(lead, f"{title} is a songwriter."), (life, first), (life, second)]
        ):
            Paragraph.objects.create(
                article=article, section=section, position=position, text=text, links=[]
            )
    return corpus


@recorded
def make_dialogs(sections: int = 3, *, fold: str = "dev", **overrides: Any) -> Collection:
    """Return an open collection with sections and tickets; `overrides` use __ for the dot.

    Of them `slug`, `corpus` and `budget_cents` are the collection's own.
    """
    budget = overrides.pop("budget_cents", 100_000)
    corpus = overrides.pop("corpus", None)
    collection = create_collection(
        overrides.pop("slug", "talk"),
        get_protocol("quac"),
        corpus or make_sections(sections),
        overrides=NUMBERS | {name.replace("__", "."): each for name, each in overrides.items()},
        seed=7,
        now=NOW,
        budget_cents=budget,
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    for position, article in enumerate(collection.corpus.articles.order_by("page_id")):
        seed = Seed.objects.create(
            collection=collection,
            key=f"section{position}",
            position=position,
            fold=fold,
            stage=collection.stages.get(name="dialog"),
        )
        for place, paragraph in enumerate(article.paragraphs.order_by("position")):
            SeedParagraph.objects.create(seed=seed, paragraph=paragraph, position=place)
    collection.state = "collecting"
    collection.save()
    collection.stages.update(state="open")
    units.bundle(stage_of(collection, "dialog"), parameters_of(collection))
    return collection


def make_talker(collection: Collection, person: str, *roles: str) -> Worker:
    """Return a worker who has passed the qualifications of `roles`, of both where none is named."""
    passed = [stage_of(collection, f"{role}_qualification") for role in roles or ROLES]
    return make_worker(person, qualified=tuple(passed))


ROLES = ("student", "teacher")


def make_lease(stage: Stage, worker: Worker, now: datetime = NOW) -> Lease:
    """Return the worker's hold on a ticket of the stage."""
    session = make_session(worker, make_posting(stage, 30, 30))
    session.signed_until = now + timedelta(hours=3)
    session.save()
    lease = leases.claim(session, stage, now)
    assert lease is not None
    return lease


def make_waiting(stage: Stage, person: str, *roles: str, now: datetime = NOW) -> Ticket:
    """Return the ticket of a person who came to the waiting room at `now` and is there."""
    worker = make_talker(stage.collection, person, *roles)
    ticket = waiting_room.arrive(make_lease(stage, worker, now), now)
    presence.connected(ticket.pk, now)
    ticket.refresh_from_db()
    return ticket


def message() -> Any:
    """Return the id of a new message of a page."""
    return uuid4()
