"""Builds what tests of difficulty start from: kept questions of a few writers about pairs."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db.models import Max

from annotation.models import Verdict
from collector.models import Article, Collection, Corpus, Paragraph, Section
from collector.protocols.creation import create_collection
from collector.protocols.loading import get_protocol
from collector.seeds.candidate import Candidate
from collector.seeds.selection import store_seeds
from readers.light.tests.making import make_examples
from readers.reader import YES_NO, Example
from tasks.models import Answer, Question, Worker

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def make_kept(
    number: int = 24, writers: Sequence[str] = ("ada", "ada", "grace"), slug: str = "pilot"
) -> Collection:
    """Return a collection with `number` kept questions, written by `writers` in turn."""
    corpus = Corpus.objects.create(
        slug=slug, name=slug, language="en", site_name=slug, state="ready"
    )
    collection = create_collection(
        slug,
        get_protocol("hotpotqa"),
        corpus,
        overrides={"pay.approve_after_hours": 0},
        seed=7,
        now=NOW,
        title="Pilot",
        requester_name="Rita",
        requester_contact="rita@example.org",
    )
    add_kept(collection, make_examples(number), writers)
    return collection


def add_kept(
    collection: Collection, examples: Sequence[Example], writers: Sequence[str]
) -> list[Question]:
    """Return the examples as kept questions of the collection."""
    stage = collection.stages.get(name="question")
    people = {
        name: Worker.objects.get_or_create(id=f"w{name}", defaults={"created_at": NOW})[0]
        for name in writers
    }
    pairs = [tuple(_paragraph(collection.corpus, text) for text in one.texts) for one in examples]
    first = (collection.seeds.aggregate(last=Max("position"))["last"] or 0) + 1
    seeds = store_seeds(
        collection,
        [
            (Candidate(one.key, "", pair, {"type": "bridge"}), first + at, "question", "")
            for at, (one, pair) in enumerate(zip(examples, pairs, strict=True))
        ],
    )
    rows = []
    for at, (one, seed) in enumerate(zip(examples, seeds, strict=True)):
        question = Question.objects.create(
            stage=stage,
            position=0,
            seed=seed,
            worker=people[writers[at % len(writers)]],
            key=one.key,
            text=one.question,
            payload={"type": "bridge", "form": "any", "facts": [list(fact) for fact in one.facts]},
            created_at=NOW,
        )
        Verdict.objects.create(
            question=question,
            outcome="kept",
            reason="written",
            sentence="Written with its answer.",
            chosen=_answer(question, one),
            n_votes=1,
            decided_at=NOW,
        )
        rows.append(question)
    return rows


def _answer(question: Question, example: Example) -> Answer:
    is_span = example.answer not in YES_NO
    start = example.texts[1].text.find(example.answer)
    span = {
        "document": 1,
        "start": start,
        "end": start + len(example.answer),
        "text": example.answer,
    }
    return Answer.objects.create(
        question=question,
        stage=question.stage,
        worker=question.worker,
        type="span" if is_span else example.answer,
        payload={"spans": [span]} if is_span else {},
        created_at=NOW,
    )


def _paragraph(corpus: Corpus, text) -> int:
    number = corpus.articles.count() + 1
    article = Article.objects.create(
        corpus=corpus, page_id=number, title=f"{text.title} ({number})", revision_id=number
    )
    section = Section.objects.create(article=article, position=0, level=1, heading="")
    paragraph = Paragraph.objects.create(
        article=article,
        section=section,
        position=0,
        text=text.text,
        sentences=[list(each) for each in text.sentences],
        splitter="test",
    )
    return paragraph.pk
