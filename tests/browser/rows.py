"""What tests prepare and look up on the instance's databases; runs in the instance's own desk."""

import json
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from annotation.dashboard.tests import making
from collector.models import Collection, CollectionState, Corpus, User
from tasks.models import Answer, Lease, ProblemReport, Question, Rejection, Submission
from tasks.paying.rejections import LONGEST_REASON
from tasks.work.passages import find_article
from tasks.work.reading import article_text
from tests.browser import writing

STAGES = (
    "question_qualification",
    "question",
    "answer_qualification",
    "answer",
    "human_performance",
)
SAMPLE = settings.BASE_DIR / "deploy" / "sample" / "quarnsey.xml"


def read_sample() -> None:
    """Read the sample corpus in, unless it is there."""
    if not Corpus.objects.filter(slug="quarnsey").exists():
        read_dump(str(SAMPLE), "quarnsey", "CC0 1.0")


def read_dump(path: str, corpus: str, licence: str = "CC BY-SA 4.0", language: str = "") -> None:
    """Read one dump into a corpus of its own."""
    # A dump this small is read before a second process has started.
    options = {"licence": licence, "language": language, "processes": 1}
    call_command("ingest_dump", path, corpus=corpus, **options)


def open_collection(slug: str, corpus: str, seeds: int, **parameters: Any) -> None:
    """Create and publish a collection; `parameters` write a double underscore for the dot."""
    # What is handed in is paid while the browser looks on.
    parameters = {"pay__approve_after_hours": 0, **parameters}
    chosen = [f"{name.replace('__', '.')}={_toml(value)}" for name, value in parameters.items()]
    call_command(
        "create_collection",
        slug,
        protocol="iirc",
        corpus=corpus,
        title=f"The collection {slug}",
        budget=500,
        seed=7,
        requester="Rita",
        contact="rita@example.org",
        set=chosen,
    )
    call_command("select_seeds", slug, count=seeds)
    call_command("publish", slug)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + "}"
    return json.dumps(value)


def put_away(*slugs: str) -> None:
    """Have collections no longer looked after, as if they had not been published yet."""
    Collection.objects.filter(slug__in=slugs).update(state=CollectionState.DRAFT)


def take_up(*slugs: str) -> None:
    """Have collections looked after again that were put away."""
    Collection.objects.filter(slug__in=slugs).update(state=CollectionState.COLLECTING)


def open_island(slug: str) -> None:
    """Open a collection with the real numbers of questions and answers, and few places."""
    few = {f"{name}__places_at_once": 2 for name in STAGES}
    alike = {"train": 1, "dev": 1, "test": 1}
    open_collection(slug, "quarnsey", 20, **few, answer__redundancy=alike)


def open_practice() -> None:
    """Open a collection whose big HITs need no qualification, and one with a single question.

    Its answer HIT asks five questions that a writer of the test's own has handed in.
    """
    many = {"train": 60, "dev": 60, "test": 60}
    few = {f"{name}__places_at_once": 1 for name in STAGES}
    open_collection(
        "practice",
        "quarnsey",
        1,
        **few
        | {
            "question_qualification__title": "Practice: five questions",
            "question_qualification__items_per_hit": 5,
            "question_qualification__questions_per_hit": 5,
            "question_qualification__multi_link_questions": 2,
            "question_qualification__redundancy": many,
            "question_qualification__places_at_once": 24,
            "answer_qualification__title": "Practice: five answers",
            "answer_qualification__items_per_hit": 5,
            "answer_qualification__redundancy": many,
            "answer_qualification__places_at_once": 24,
        },
    )
    # Whoever leaves a HIT unfinished keeps its place: as many as the tests that take one.
    open_single("single", "quarnsey", "Single: one question", 24, 870, 925)
    writing.hand_in_questions("practice")


def open_single(
    slug: str,
    corpus: str,
    title: str,
    places: int,
    shortest: int,
    longest: int,
    links: int = 10,
    **parameters: Any,
) -> None:
    """Open a collection whose HIT asks one question on one paragraph."""
    few = {f"{name}__places_at_once": 1 for name in STAGES}
    chosen = {
        "seeds__min_links": links,
        "seeds__min_links_in_corpus": 0,
        "seeds__min_characters": shortest,
        "seeds__max_characters": longest,
        "question_qualification__title": title,
        "question_qualification__items_per_hit": 1,
        "question_qualification__questions_per_hit": 1,
        "question_qualification__multi_link_questions": 0,
        "question_qualification__places_at_once": places,
        "answer_qualification__items_per_hit": 1,
    }
    open_collection(slug, corpus, 1, **few | chosen | parameters)


def open_waiting(slug: str, title: str) -> None:
    """Open a collection of one short HIT that is paid days after it was handed in."""
    open_single(
        slug, "quarnsey", title, 2, 870, 925, pay__approve_after_hours=90.0, pay__fee_percent=10
    )


def open_decisions(slug: str) -> None:
    """Put work into a collection for every state in which its pay can be."""
    collection = Collection.objects.get(slug=slug)
    # Where work is paid at once nothing is decided.
    collection.parameters["pay"]["approve_after_hours"] = 48.0
    collection.save(update_fields=["parameters"])
    making.make_decisions(collection)
    making.make_refused_bonus(collection, "This Worker Id is closed (1700000000000)")


def open_wordy() -> str:
    """Open a collection whose people write as much as they may; return its slug."""
    hours = {"pay__approve_after_hours": 48.0}
    open_single("wordy", "quarnsey", "Single: one question", 8, 870, 925, **hours)
    words = (
        "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz and why it was passed. "
    )
    # More work than was ever planned stands in it.
    Collection.objects.filter(slug="wordy").update(title=(words * 3)[:200], maximum_cents=None)
    collection = Collection.objects.get(slug="wordy")
    making.make_full(collection)
    making.make_decisions(collection)
    making.make_refused_bonus(collection, words * 4)
    Question.objects.filter(stage__collection=collection).update(text=(words * 6).strip())
    Rejection.objects.filter(session__posting__stage__collection=collection).update(
        reason=(words * 20)[:LONGEST_REASON]
    )
    lease = Lease.objects.filter(unit__stage__collection=collection).earliest("pk")
    ProblemReport.objects.create(lease=lease, message=words * 12, at=timezone.now())
    return "wordy"


def add_requester(name: str, password: str) -> None:
    """Make an account for a second requester."""
    User.objects.create_user(name, password=password)


def pay(slug: str) -> dict[str, Any]:
    """Return the collection's reserved and spent cents, and every payment with its state."""
    collection = Collection.objects.get(slug=slug)
    rows = collection.payments.order_by("id").values_list("amount_cents", "state", "reason")
    return {
        "reserved": collection.reserved_cents,
        "spent": collection.spent_cents,
        "payments": [list(row) for row in rows],
    }


def questions(slug: str, stage: str) -> list[dict[str, Any]]:
    """Return every question of a stage as it is kept, with the words its offsets give."""
    found = Question.objects.filter(stage__collection__slug=slug, stage__name=stage)
    return [
        {
            "text": question.text,
            "seed": question.seed_id,
            "context": [_proven(span, _texts_of(question)) for span in question.payload["context"]],
            "links": question.payload["links"],
        }
        for question in found.order_by("submission_id", "position").select_related("seed")
    ]


def answers(slug: str, stage: str) -> list[dict[str, Any]]:
    """Return every answer of a stage as it is kept, with the words its offsets give."""
    found = Answer.objects.filter(stage__collection__slug=slug, stage__name=stage)
    rows = []
    for answer in found.order_by("id").select_related("question__seed"):
        texts = _texts_of(answer.question)
        spans = {
            name: [_proven(span, texts) for span in answer.payload[name]]
            for name in ("spans", "context")
        }
        rows.append(
            {"type": answer.type, "question": answer.question.text, **answer.payload, **spans}
        )
    return rows


def receipts(slug: str) -> list[dict[str, Any]]:
    """Return for each submission its stage, its state, and what the marketplace made of it."""
    from marketplace.models import Assignment

    kept = list(Assignment.objects.values_list("assignment_id", "answer", "state"))
    return [
        {
            "stage": row.lease.unit.stage.name,
            "state": row.state,
            "marketplace": [
                state
                for name, answer, state in kept
                if name == row.lease.session.session_id and row.receipt in answer
            ],
        }
        for row in Submission.objects.filter(lease__unit__stage__collection__slug=slug)
        .select_related("lease__unit__stage", "lease__session")
        .order_by("id")
    ]


def _texts_of(question: Question) -> dict[str, str]:
    """Return the texts that a span of the question or of its answers may lie in, by document."""
    paragraph = question.seed.seed_paragraphs.get(position=0).paragraph
    corpus = paragraph.article.corpus
    texts = {"main": paragraph.text, "question": question.text}
    for _, _, title in paragraph.links:
        article = find_article(corpus, title)
        if article:
            texts[title] = article_text(article).text
    return texts


def _proven(span: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Return the span with `slice`, what its offsets give, and how often they stand `before`."""
    text = texts[span["document"]]
    words = text[span["start"] : span["end"]]
    before = sum(text.startswith(words, place) for place in range(span["start"]))
    return {**span, "slice": words, "before": before}


def drafts(slug: str) -> list[dict[str, Any]]:
    """Return each lease of a collection, the oldest first, with the words its draft has marked."""
    leases = Lease.objects.filter(unit__stage__collection__slug=slug).order_by("id")
    return [
        {"state": lease.state, "draft": lease.draft, "marked": _marked(lease)} for lease in leases
    ]


def _marked(lease: Lease) -> list[str]:
    texts = {
        str(item.position): item.the_seed().seed_paragraphs.get(position=0).paragraph.text
        for item in lease.unit.items.filter(seed__isnull=False)
    }
    data = (lease.draft or {}).get("data") or {}
    return [
        texts[question["item"]][span["start"] : span["end"]]
        for question in data.get("questions", [])
        for span in question["context"]
    ]
