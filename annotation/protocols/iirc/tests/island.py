"""A small decided collection about an invented island, for tests of releases and reports."""

from typing import Any

from annotation.tests.making import (
    make_answer,
    make_article,
    make_collection,
    make_corpus,
    make_question,
    make_seed,
    make_verdict,
    span,
)
from collector.models import Collection, Paragraph, Seed

HARBOUR = "Port Ellan 🙂 is the harbour of Hollin. The ferry to Marle < Ost leaves at noon."
LIGHT = "The light of Cape Tarn was lit by Ida Brook, who was born in Port Ellan."
SCHOOL = "The school of Hollin stands between the Old Mill and Port Ellan."
TEXTS = {
    "Hollin": "Hollin is an island. Its people number 4,120 < 5,000.",
    "Port Ellan": "Port Ellan was founded in 1702. It lies on Hollin.",
    "Ida Brook": "Ida Brook was born in 1850. She kept the light for 31 years.",
}


def links(text: str, *surfaces: str | tuple[str, str]) -> list[list[Any]]:
    """Return the links of `text`; a surface that is not the title comes with the title."""
    found = []
    for each in surfaces:
        surface, title = (each, each) if isinstance(each, str) else each
        start = text.index(surface)
        found.append([start, start + len(surface), title])
    return found


def paragraphs() -> dict[str, Paragraph]:
    """Return the seeds' paragraphs by fold, in a corpus of six pages, one of them a redirect."""
    corpus = make_corpus()
    make_article(corpus, "Hollin", TEXTS["Hollin"])
    make_article(corpus, "Port Ellan", (TEXTS["Port Ellan"], links(TEXTS["Port Ellan"], "Hollin")))
    make_article(corpus, "Ida Brook", TEXTS["Ida Brook"])
    make_article(corpus, "The island", kind="redirect", redirect_target="Hollin")
    harbour = links(HARBOUR, ("Port Ellan", "Port Ellan"), ("Hollin", "The island"), "Marle < Ost")
    pages = {
        "train": make_article(corpus, "Harbours", (HARBOUR, harbour)),
        "dev": make_article(corpus, "Cape Tarn", (LIGHT, links(LIGHT, "Ida Brook", "Port Ellan"))),
        "test": make_article(corpus, "School", (SCHOOL, links(SCHOOL, "Hollin", "Port Ellan"))),
    }
    return {fold: page.paragraphs.get() for fold, page in pages.items()}


def island() -> Collection:
    """Return a collection with one seed a fold and eight questions, five of them kept."""
    found = paragraphs()
    collection = make_collection(found["train"].article.corpus)
    train, dev, test = (make_seed(collection, found[fold], fold) for fold in found)
    ask_train(train)
    ask_dev(dev)
    ask_test(test)
    return collection


def ask_train(seed: Seed) -> None:
    """Make a number, a yes and a bad question, with one answer each."""
    asked = make_question(
        seed,
        "How many people live on the island of the harbour?",
        links=("The island",),
        context=(span("main", "Port Ellan 🙂", HARBOUR),),
    )
    evidence = [
        span("main", "harbour of Hollin", HARBOUR),
        span("The island", "4,120 < 5,000", TEXTS["Hollin"]),
    ]
    given = make_answer(asked, "value", value="4,120", unit="people", context=evidence)
    make_verdict(asked, given, reason="single_annotator")
    asked = make_question(seed, "Is the harbour older than 1800?", links=("Port Ellan",))
    evidence = [span("Port Ellan", "1702", TEXTS["Port Ellan"])]
    make_verdict(asked, make_answer(asked, "binary", yes_no="yes", context=evidence))
    asked = make_question(seed, "What colour is the harbour's sky?")
    make_answer(asked, "bad", reason="Nobody can know.")
    make_verdict(asked, reason="marked_bad")


def ask_dev(seed: Seed) -> None:
    """Make a question on which two of three agree, and one on which nobody does."""
    asked = make_question(seed, "When was the keeper of the light born?", links=("Ida Brook",))
    votes = []
    for worker, words in [("grace", "1850"), ("mallory", "31 years"), ("hedy", "1850")]:
        found_in = span("Ida Brook", words, TEXTS["Ida Brook"])
        evidence = [span("main", "Ida Brook", LIGHT), found_in]
        votes.append(make_answer(asked, "span", worker=worker, spans=[found_in], context=evidence))
    make_verdict(asked, votes[0], agreeing=[votes[0].pk, votes[2].pk])
    asked = make_question(seed, "What did the keeper of the light eat?")
    for worker in ("grace", "mallory", "hedy"):
        make_answer(asked, "value", worker=worker, value=str(len(worker)))
    make_verdict(asked)


def ask_test(seed: Seed) -> None:
    """Make two spans, an unanswerable question, and one that nobody has answered."""
    asked = make_question(seed, "Which of both was founded in 1702?")
    spans = [span("main", "Port Ellan", SCHOOL), span("question", "1702", asked.text)]
    evidence = [
        span("Port Ellan", "founded in 1702", TEXTS["Port Ellan"]),
        span("Hollin", "island", TEXTS["Hollin"]),
    ]
    votes = [
        make_answer(asked, "span", worker=worker, spans=spans, context=evidence)
        for worker in ("grace", "mallory", "hedy")
    ]
    make_verdict(asked, votes[0], agreeing=[vote.pk for vote in votes])
    asked = make_question(seed, "Who built the school?")
    votes = [make_answer(asked, worker=worker) for worker in ("grace", "mallory", "hedy")]
    make_verdict(asked, votes[0], agreeing=[vote.pk for vote in votes])
    make_question(seed, "How old is the mill?")
