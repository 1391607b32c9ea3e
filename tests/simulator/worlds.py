"""What a run begins with: accounts, three corpora, and a collection whose parameters are drawn."""

import random
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.simulator.machine import TIME

SLUG = "life"
PROTOCOLS = ("bookqa", "hotpotqa", "iirc", "quac", "rag", "squad")
CORPORA = {"quac": "sections", "rag": "documents"}
# How many paragraphs a seed has: two of a pair or a set, a section of two with what comes before.
PAGES = {"hotpotqa": 2, "quac": 3, "rag": 2}
# What protocols keep of a seed beside its paragraphs; a book has an id of its own too.
PAIR = {"type": "bridge", "form": "any", "set": "places"}
BOOK = {"set": "", "kind": "book", "url": "", "title": "A book", "tables": {}}
REQUESTERS = ("rita", "ruth")
WORKERS = ("ada", "grace", "edith", "ida", "mallory")
# Who sits at the marketplace's desk: its host, and one of Leo's people, with a task in HTML.
HOST_NAME, DESK_NAME, DESK_PASSWORD = "hanna", "leah", "long enough to sign in"
TASK = "<p>Is ${name} a town?</p><p><input name='answer' required></p><button>Submit</button>"
OPENING_CENTS = 10**7


def programs_keys() -> Path:
    """Return where the keys of Leo's account are, whose programs know nothing of Collector."""
    return Path(settings.MTURK_KEYS_FILE).with_name("leo.json")


def begin() -> None:
    """Fill the template's databases: what every run starts from."""
    from collector.models import User
    from collector.retrieval.passages import build_passages
    from common.spreadsheet import read_table
    from marketplace.desk.batches import make_batch
    from marketplace.desk.users import open_user
    from marketplace.models import Project
    from marketplace.people.accounts import keys_of, open_requester, write_keys
    from marketplace.tests.boto import ENDPOINT
    from tasks.dialog.tests.making import make_sections
    from tasks.tests.making import make_corpus

    for name, file in (("Rita", settings.MTURK_KEYS_FILE), ("Leo", programs_keys())):
        requester = open_requester(name, f"{name}@lab.example", OPENING_CENTS, TIME.now())
        write_keys(keys_of(requester, ENDPOINT, TIME.now()), file)
    open_user(HOST_NAME, DESK_PASSWORD, None, TIME.now())
    open_user(DESK_NAME, DESK_PASSWORD, requester, TIME.now())
    project = Project.objects.create(
        requester=requester,
        kind="template",
        name="Towns",
        title="Is it a town?",
        description="Look it up.",
        reward_cents=50,
        max_assignments=2,
        assignment_duration_seconds=600,
        lifetime_seconds=86400,
        auto_approval_delay_seconds=8640,
        html=TASK,
        created_at=TIME.now(),
    )
    for name in ("first", "second"):
        make_batch(project, name, read_table("name\nOslo\nUlm\nRhodes\n"), TIME.now())
    for name in REQUESTERS:
        User.objects.create(username=name)
    make_corpus(24, slug="pages")
    make_sections(6, slug="sections")
    build_passages(make_corpus(24, slug="documents"))


def drawn(protocol: str, rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    """Return what is changed of a protocol's parameters, and the folds of its seeds."""
    few = lambda: rng.choice((1, 1, 2, 2, 3))  # noqa: E731
    cents = lambda: rng.choice((0, 1, 90, 200, 400, 777))  # noqa: E731
    share = rng.choice(({}, {}, {"percent": 50, "people": 4}))
    redundancy = {"train": few(), "dev": few(), "test": few(), **share}
    changed = {
        "pay.approve_after_hours": rng.choice((0, 24)),
        "pay.repeats_percent": rng.choice((0, 50)),
        "pay.fee_percent": rng.choice((0, 0, 33)),
        "pay.min_fee_cents": rng.choice((0, 0, 7)),
    }
    folds = [rng.choice(("train", "dev", "test")) for _ in range(rng.randint(1, 5))]
    many = {"question.places_at_once": rng.choice((1, 6)), "question.reward_cents": cents()}
    answers = {"answer.places_at_once": rng.choice((1, 6)), "answer.reward_cents": cents()}
    own: dict[str, dict[str, Any]] = {
        "bookqa": {
            **many,
            **answers,
            # Thirty people write about a book of the paper; here are seven.
            "question.redundancy": {"train": few(), "dev": few(), "test": few()},
            "answer.items_per_hit": few(),
            "label.items_per_hit": few(),
            "label.sample_questions": few(),
        },
        "hotpotqa": {
            **many,
            "question.items_per_hit": (pairs := few()),
            "question.max_skips": rng.randint(0, pairs - 1),
            "question.bonuses.wait_hours": rng.choice((0, 24)),
            "question.bonuses.block_examples": few(),
            "question.bonuses.top_every_examples": few(),
            "human_performance.items_per_hit": few(),
        },
        "iirc": {
            **many,
            **answers,
            "seeds.min_links": 2,
            "seeds.min_links_in_corpus": 2,
            "question_qualification.items_per_hit": 1,
            "question_qualification.questions_per_hit": 1,
            "question_qualification.multi_link_questions": 0,
            "question.items_per_hit": few(),
            "question.questions_per_hit": 1 + few(),
            "question.multi_link_questions": rng.choice((0, 1)),
            "answer_qualification.items_per_hit": 1,
            "answer.items_per_hit": few(),
            "answer.redundancy": redundancy,
            "human_performance.items_per_hit": few(),
            "human_performance.sample_questions": few(),
        },
        "quac": {
            "student_qualification.items_per_hit": 1,
            "teacher_qualification.items_per_hit": 1,
            "dialog.min_pairs": few(),
            "dialog.wait_minutes": rng.choice((1, 15)),
            "validation.reward_cents": cents(),
        },
        "rag": {
            **many,
            "natural.items_per_hit": few(),
            "question.items_per_hit": (sets := few()),
            "question.max_skips": rng.randint(0, sets - 1),
            "find.items_per_hit": few(),
            "reading.items_per_hit": few(),
        },
        "squad": {
            **many,
            **answers,
            "question.questions_per_item": few(),
            "question.unanswerable_per_item": rng.choice((0, 0, 1)),
            "answer.items_per_hit": few(),
        },
    }
    if protocol == "hotpotqa":
        folds = [""] * len(folds)
    return {**changed, **own[protocol]}, folds[: 2 if protocol == "quac" else 5]


def create(protocol: str, seed: int, also: dict[str, Any] | None = None) -> Any:
    """Return a draft with drawn parameters and seeds.

    also: what else is changed of the protocol's parameters. Raises ProtocolError or ActionError for
    what is refused.
    """
    from collector.models import Corpus
    from collector.protocols.creation import create_collection
    from collector.protocols.loading import get_protocol
    from collector.seeds.selection import store_seeds

    rng = random.Random(f"{seed}:{protocol}:parameters")
    changed, folds = drawn(protocol, rng)
    changed |= also or {}
    corpus = Corpus.objects.get(slug=CORPORA.get(protocol, "pages"))
    collection = create_collection(
        SLUG,
        get_protocol(protocol),
        corpus,
        overrides=changed,
        seed=seed,
        now=TIME.now(),
        budget_cents=rng.choice((20_000, 60_000, 600_000)),
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    store_seeds(collection, chosen_seeds(collection, folds))
    return collection


def chosen_seeds(collection: Any, folds: list[str]) -> list[tuple[Any, int, str, str]]:
    """Return the seeds that a collection begins with, as `store_seeds` takes them."""
    from collector.models import Paragraph
    from collector.protocols.creation import parameters_of
    from collector.seeds.candidate import Candidate

    protocol = collection.protocol
    rows = Paragraph.objects.filter(article__corpus=collection.corpus).order_by("pk")
    keys, pages = list(rows.values_list("pk", flat=True)), PAGES.get(protocol, 1)
    entries: list[tuple[Any, int, str, str]] = []
    for name, table in parameters_of(collection).stages().items():
        if table.items_from != "seeds":
            continue
        for each in range(table.items_per_hit if table.qualifies else len(folds)):
            at = len(entries)
            chosen = tuple(keys[(pages * at + page) % len(keys)] for page in range(pages))
            fold = "" if table.qualifies else folds[each]
            book = {**BOOK, "document_id": f"{at + 1}"} if protocol == "bookqa" else {}
            payload = dict(PAIR) if table.kind == "pair" else book
            entries.append((Candidate(f"{at + 1}", "", chosen, payload), at + 1, name, fold))
    return entries


@cache
def wire(file: Path) -> Any:
    """Return boto3's client for the account of a keys file, whose bytes stay on this machine."""
    import json

    from marketplace.people.accounts import RequesterKeys
    from marketplace.tests.boto import mturk_client

    return mturk_client(RequesterKeys(**json.loads(file.read_text())))
