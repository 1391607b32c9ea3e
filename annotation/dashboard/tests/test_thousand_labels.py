"""Many labelled texts: no page asks the database more for them than for forty."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.dashboard.tests.making import make_lines, make_submission
from annotation.dashboard.tests.test_collections import queries
from annotation.decisions.verdicts import decide_collection
from annotation.models import Verdict
from collector.models import Collection, Stage
from collector.seeds.selection import select_seeds
from tasks.models import Answer, Question, Unit
from tasks.tests.making import (
    NOW,
    consent,
    entry_query,
    make_corpus,
    make_posting,
    make_worker,
    write_keys,
)
from tasks.work import units

pytestmark = pytest.mark.django_db
# A seed is as a book is: many texts are about one.
SEEDS = 40
MANY = pytest.mark.parametrize("many", [250, pytest.param(1000, marks=pytest.mark.long)])
LABELS = ("faithful", "exaggerated")
AT = "/collections/lines/"
PAGES = (
    "",
    "labels/label/",
    "labels/label/try/",
    "questions/",
    "questions/?page=2",
    "questions/?outcome=adjudication",
    "questions/?outcome=labels",
    "money/",
    "money/work/",
    "report/",
)


@pytest.fixture
def lines(rita: Client, settings: Any, tmp_path: Path) -> Collection:
    """Return an open collection with a text about each of its seeds, labelled by two."""
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    collection = make_lines(settings, make_corpus(SEEDS))
    select_seeds(collection, SEEDS)
    collection.stages.update(state="open")
    collection.state = "collecting"
    collection.save()
    add_labelled(collection, SEEDS)
    return collection


def stage_of(collection: Collection, name: str) -> Stage:
    """Return a stage with its collection as it is now."""
    return collection.stages.select_related("collection").get(name=name)


def add_labelled(collection: Collection, number: int) -> None:
    """Add so many texts that two have labelled, every third of them not alike, and decide.

    Each waits to be labelled once more, four a HIT.
    """
    text, label = stage_of(collection, "text"), stage_of(collection, "label")
    written = make_submission(text)
    before = Question.objects.count()
    seeds = list(collection.seeds.order_by("pk"))
    made = Question.objects.bulk_create(
        Question(
            stage=text,
            submission=written,
            position=place,
            seed=seeds[place % SEEDS],
            worker=written.lease.worker,
            key=f"text-{before + place:04}",
            text=f"Line {before + place}",
            payload={"fields": {}},
            created_at=NOW,
        )
        for place in range(number)
    )
    for turn in range(2):
        voted = make_submission(label)
        Answer.objects.bulk_create(
            Answer(
                question=question,
                stage=label,
                submission=voted,
                worker=voted.lease.worker,
                writer=question.worker,
                type=LABELS[0 if place % 3 else turn],
                payload={"fields": {"remark": ""}},
                created_at=NOW,
            )
            for place, question in enumerate(made)
        )
    decide_collection(collection, timezone.now())
    Unit.objects.filter(stage=label).update(closed=True)
    for start in range(0, number, 4):
        units.create_unit(label, made[start : start + 4], 3)


def spent(collection: Collection, rita: Client) -> dict[str, int]:
    """Return how many queries each of the requester's pages makes, one of adjudication among them.

    Each is opened once before: what a process keeps is there.
    """
    differing = Verdict.objects.filter(n_votes=2, overridden=False).order_by("question__key")
    middle = differing.exclude(reason="majority")[5].question.key
    addresses = {page: f"{AT}{page}" for page in PAGES}
    addresses["labels of one"] = f"{AT}questions/{middle}/?outcome=labels"
    addresses["one"] = f"{AT}questions/{middle}/?outcome=adjudication"
    for address in addresses.values():
        assert rita.get(address).status_code == 200
    return {
        page: queries(lambda address=address: rita.get(address))
        for page, address in addresses.items()
    }


def opened(collection: Collection, name: str) -> tuple[int, int]:
    """Return what a new labeller's HIT page costs in queries: taken, and then opened again."""
    consent(make_worker(name), collection)
    collection.refresh_from_db()
    posting = make_posting(stage_of(collection, "label"))
    soon = timezone.now() + timedelta(hours=1)
    address = f"/hit/?{entry_query(posting, name, expires=soon, assignment=f'X{name}')}"
    browser = Client(HTTP_HOST="localhost")
    pages: list[str] = []
    numbers = [
        queries(lambda: pages.append(browser.get(address).content.decode())) for _ in range(2)
    ]
    assert all('"mode":"work"' in page for page in pages), pages[0][:500]
    waiting = Question.objects.count()
    assert all(f'"running":{{"done":0,"of":{waiting}}}' in page for page in pages)
    return numbers[0], numbers[1]


@MANY
def test_no_page_of_the_requester_s_asks_more_for_many_labels(
    lines: Collection, rita: Client, many: int
) -> None:
    before = spent(lines, rita)
    add_labelled(lines, many - SEEDS)
    assert (Question.objects.count(), Answer.objects.count()) == (many, 2 * many)
    assert spent(lines, rita) == before


@MANY
def test_a_hit_of_a_queue_of_many_labels_takes_as_many_queries_as_of_forty(
    lines: Collection, many: int
) -> None:
    opened(lines, "AADA")
    before = opened(lines, "AGRACE")
    add_labelled(lines, many - SEEDS)
    assert opened(lines, "AEDITH") == before
