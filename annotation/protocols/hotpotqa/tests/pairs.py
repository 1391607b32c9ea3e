"""A small placed collection of pairs, one question a split, for tests of releases and reports."""

from typing import Any

from annotation.models import Context, SplitAssignment
from annotation.protocols.hotpotqa.file_format import SPLITS, settings_of
from annotation.tests.making import (
    NOW,
    make_answer,
    make_article,
    make_collection,
    make_corpus,
    make_question,
    make_submission,
    make_verdict,
    span,
)
from collector.models import Collection, Paragraph, Seed, SeedParagraph
from tasks.models import Answer, Question, UnitItem

# No other text of the tests holds it, so that it can be looked for.
RANDOM_SEED = 918273645


def town(corpus: Any, name: str) -> Paragraph:
    """Return the first paragraph of an article, of two sentences about an invented town."""
    text = f"{name} is a harbour of Quarnsey. {name} was founded by Keeper{name}."
    paragraph = make_article(corpus, name, text).paragraphs.get()
    end = text.index(".") + 1
    paragraph.sentences, paragraph.splitter = [[0, end], [end + 1, len(text)]], "test"
    paragraph.save()
    return paragraph


def pairs(kind: str = "bridge") -> Collection:
    """Return a collection with one kept question in each split, with the contexts of its split.

    Of the pair of the question in test-fullwiki nothing was found; its titles are SecretA and
    SecretB, and its answer KeeperSecretB.
    """
    corpus = make_corpus()
    collection = make_collection(corpus, protocol="hotpotqa", random_seed=RANDOM_SEED)
    others = [town(corpus, f"Other{number}") for number in range(3)]
    for number, split in enumerate(SPLITS):
        name = "Secret" if split == "test-fullwiki" else f"Town{number}"
        pair = [town(corpus, f"{name}{letter}") for letter in "AB"]
        question = ask(collection, pair, f"Who founded number {number}?", kind)
        SplitAssignment.objects.create(question=question, split=split, reason="So.", placed_at=NOW)
        compared = ["fullwiki"] if split == "train-medium" else []
        for setting in [*settings_of(split), *compared]:
            found = [*others, *pair] if setting == "distractor" else others
            give_context(question, setting, found)
    return collection


def ask(collection: Collection, pair: list[Paragraph], text: str, kind: str) -> Question:
    """Return a kept question about the pair, answered by its writer with who founded the second."""
    number = collection.seeds.count() + 1
    seed = Seed.objects.create(
        collection=collection,
        key=f"seedkey{number:04}",
        position=number,
        stage=collection.stages.get(name="question"),
        payload={"type": kind, "form": "any", "set": "harbours"},
    )
    for position, paragraph in enumerate(pair):
        SeedParagraph.objects.create(seed=seed, paragraph=paragraph, position=position)
    submission = make_submission(collection.stages.get(name="question"))
    UnitItem.objects.create(unit=submission.lease.unit, position=0, seed=seed)
    facts = [[0, 0], [1, 1]]
    question = make_question(seed, text, submission=submission, key=f"questionkey{number:04}")
    question.payload = {"type": kind, "form": "any", "facts": facts}
    question.save()
    second = pair[1]
    found = span("1", f"Keeper{second.article.title}", second.text) | {"document": 1}
    answer = Answer.objects.create(
        question=question,
        stage=question.stage,
        submission=submission,
        worker_id=question.worker_id,
        type="span",
        payload={"spans": [found], "facts": facts},
        created_at=NOW,
    )
    make_verdict(question, answer, reason="answered_by_its_writer")
    return question


def read_again(question: Question, *given: tuple[str, list[list[int]]]) -> None:
    """Store second readings: of each worker the answer, and the facts."""
    for name, (answer, facts) in zip(("grace", "edith", "ruth"), given, strict=False):
        yes_no = answer if answer in ("yes", "no") else None
        spans = [] if yes_no else [{"document": 1, "start": 0, "end": 1, "text": answer}]
        make_answer(
            question,
            yes_no or "span",
            worker=name,
            stage="human_performance",
            spans=spans,
            facts=facts,
        )


def give_context(question: Question, setting: str, found: list[Paragraph], **ranks: Any) -> None:
    """Store what a system reads."""
    keys = [paragraph.pk for paragraph in found]
    Context.objects.create(question=question, setting=setting, paragraphs=keys, **ranks)
