"""Shows a stage's page before anybody works: with real texts and real checks, but not stored.

Pages read what they show from rows of a unit. These rows are made here and rolled back at once, so
that each kind of stage shows its real page. If nobody has written the questions that a stage needs,
placeholders stand in for them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from collector.models import Stage
from collector.protocols.creation import current_text, parameters_of
from tasks.models import Lease, Question, Unit, UnitItem
from tasks.pages.work_page import preview_page, trial_page
from tasks.people import lease_context
from tasks.work.kinds.kind import Item
from tasks.work.kinds.registry import kind_of
from tasks.work.reading import article_page, results_of
from tasks.work.submissions import CheckedSubmission, examine

# The views of a page: before the HIT is accepted, at work, or in one of the roles of its kind.
BEFORE, WORK = "before", "work"
# The position of the preview's unit: after all others.
LAST = 2**31 - 1
NOBODY = "preview"
# The mark at the end keeps the full stop there in a right-to-left corpus.
NOBODYS_QUESTION = "Here stands a question that another worker has asked.\u200e"


@dataclass(frozen=True)
class Shown:
    """What a stage's page shows: its lease, not stored, and its items.

    `source`: "seeds", "questions" for real questions, or "invented" for placeholders.
    """

    lease: Lease
    items: list[Item]
    source: str


def views_of(stage: Stage, now: datetime) -> list[str]:
    """Return the views of the stage's page; without seeds, only the one before accepting."""
    if not stage.collection.seeds.exists():
        return [BEFORE]
    if kind_of(stage).pairs_workers:
        return [BEFORE, *kind_of(stage).trial_states(stage, now)]
    return [BEFORE, WORK]


def source_of(stage: Stage) -> str:
    """Return what the page shows, as in Shown.source; raises IndexError without seeds."""
    with _shown(stage) as shown:
        return shown.source


def page_of(stage: Stage, view: str, now: datetime, trial: Mapping[str, object]) -> bytes:
    """Return the stage's page in one of its views; nothing is stored.

    trial: the secret and the addresses by which the page has its work checked.
    """
    words = current_text(stage.collection, stage.name)
    setting = lease_context.stage_context_of(stage.pk, words.pk)
    cents = parameters_of(stage.collection).stages()[stage.name].reward_cents
    if view == BEFORE:
        return preview_page(setting, cents, now, {})
    if view != WORK:
        own = kind_of(stage).trial_states(stage, now)[view]
        return trial_page(setting, cents, now, [], own=own, framed=True)
    with _shown(stage) as shown:
        state = {**kind_of(stage).page_state(shown.lease), "trial": trial}
        return trial_page(setting, cents, now, shown.items, own=state, framed=True)


def check_of(stage: Stage, data: object) -> CheckedSubmission:
    """Return the result of checking a submission from the page at work; nothing is stored."""
    with _shown(stage) as shown:
        return examine(shown.lease, data, shown.items)


def linked_article(stage: Stage, item: str, title: str) -> bytes | None:
    """Return an article that an item of the page at work links to, as JSON; None for any other."""
    with _shown(stage) as shown:
        return article_page(shown.lease, shown.items, item, title)


def searched(stage: Stage, query: str) -> list[dict[str, Any]] | None:
    """Return what a search on the page at work finds; None if its workers may not search.

    Raises RetrievalError if the corpus cannot be searched.
    """
    if not kind_of(stage).searches:
        return None
    return results_of(stage, query)


@contextmanager
def _shown(stage: Stage) -> Iterator[Shown]:
    """Make the rows that the page reads, and roll them back at the end of the block."""
    table = parameters_of(stage.collection).stages()[stage.name]
    with transaction.atomic():
        unit = Unit.objects.create(stage=stage, position=LAST, redundancy=1)
        if table.items_from == "seeds":
            source = "seeds"
            own = stage.seeds if stage.seeds.exists() else stage.collection.seeds
            chosen = own.order_by("position")[: table.items_per_hit]
            items = [UnitItem(unit=unit, seed=seed) for seed in chosen]
        else:
            source, questions = _questions(stage, table.items_per_hit)
            items = [UnitItem(unit=unit, question=question) for question in questions]
        for position, item in enumerate(items):
            item.position = position
        UnitItem.objects.bulk_create(items)
        lease = Lease(unit=unit, worker_id=NOBODY)
        try:
            yield Shown(lease, kind_of(stage).page_items(unit), source)
        finally:
            transaction.set_rollback(True)


def _questions(stage: Stage, most: int) -> tuple[str, list[Question]]:
    """Return their source, and questions for the stage: written ones, else placeholders."""
    tables = parameters_of(stage.collection).stages()
    name = tables[stage.name].items_from
    while tables[name].items_from != "seeds":
        name = tables[name].items_from
    source = Stage.objects.get(collection=stage.collection_id, name=name)
    written = list(source.questions.order_by("pk")[:most])
    if written:
        return "questions", written
    seeds = list(source.seeds.order_by("position")[:most])
    seeds = seeds or list(stage.collection.seeds.order_by("position")[:most])
    return "invented", [
        Question.objects.create(
            stage=source,
            position=position,
            seed=seed,
            key=uuid4().hex,
            text=NOBODYS_QUESTION,
            payload={"context": [], "links": []},
            created_at=timezone.now(),
        )
        for position, seed in enumerate(seeds)
    ]
