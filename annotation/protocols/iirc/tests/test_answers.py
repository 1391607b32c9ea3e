"""A careful reader finds what the linked articles say, and says so when they do not."""

import re
from typing import Any

import pytest

from annotation.protocols.iirc.official_files import Answer, Question, Span
from annotation.protocols.iirc.replay import Documents, typed
from annotation.protocols.iirc.tests.pages import seeded
from annotation.protocols.iirc.typed_work import NONSENSE, answer, find
from tasks.simulation.behaviour import Behaviour

LIVES = {
    "Ada Byrne": "Ada Byrne (3 May 1811 – 4 June 1880) was an engineer from Hollin, known for the "
    "Long Bridge. She was born at Garrow and educated at Hollin School.",
    "Long Bridge": "The Long Bridge is a bridge in Hollin. It was opened in 1844, designed by "
    "Ada Byrne, and is two hundred and twelve paces or 155.5 metres long.",
    "Hollin": "Hollin is a town in the north of Arden. It was founded in 1611 and had 31,406 "
    "inhabitants at the last count. The regatta of 1903 was won by Grace Holt.",
}
PASSAGE = {
    "title": "Arden",
    "text": "The engineer Byrne built the Long Bridge near Hollin in 1844.",
    "links": [
        {"start": 13, "end": 18, "title": "Ada Byrne"},
        {"start": 29, "end": 40, "title": "Long Bridge"},
        {"start": 46, "end": 52, "title": "Hollin"},
    ],
}


def article(title: str) -> dict[str, Any]:
    """Return a linked article as the page gets it."""
    sentences = [list(match.span()) for match in re.finditer(r".+?\.(?= |$)", LIVES[title])]
    paragraph = {"start": 0, "text": LIVES[title], "kind": "paragraph", "sentences": sentences}
    return {"title": title, "sections": [{"heading": "", "level": 0, "paragraphs": [paragraph]}]}


def test_links_whose_titles_differ_in_case_are_told_apart() -> None:
    links = [{"start": 0, "end": 2, "title": title} for title in ("It", "IT", "Main")]
    item = {"id": 1, "question": "", "passage": {"text": "", "links": links}, "links": links}
    documents = Documents(item, None)
    written = ("IT", "It", "it", "Main", "main")
    assert [documents.name(one) for one in written] == ["IT", "It", "It", "Main", "main"]
    evidence = (Span("main", "I", 0, 1),)
    asked = Question(None, "Which?", ("IT", "it"), evidence, Answer("none"))
    assert typed(asked, item)["links"] == ["IT", "It"]


def found(question: str, *titles: str) -> tuple[Any, ...]:
    given, proofs = find(question, [article(title) for title in titles])
    for proof in proofs:
        text = LIVES[proof.span["document"]]
        assert text[proof.span["start"] : proof.span["end"]] == proof.words
        assert proof.words in text[proof.sentence["start"] : proof.sentence["end"]]
    if given["type"] != "span":
        return tuple(given.values())
    texts = {"question": question, **LIVES}
    return ("span", *(texts[one["document"]][one["start"] : one["end"]] for one in given["spans"]))


@pytest.mark.parametrize(
    ("question", "title", "expected"),
    [
        ("In what year was this person born?", "Ada Byrne", "1811"),
        ("Where was Byrne born?", "Ada Byrne", "Garrow"),
        ("Who won it in 1903?", "Hollin", "Grace Holt"),
        ("Who designed it?", "Long Bridge", "Hollin"),
    ],
)
def test_spans_are_found(question: str, title: str, expected: str) -> None:
    assert found(question, title) == ("span", expected)


def test_numbers_are_written_in_digits_with_their_unit() -> None:
    inhabitants = ("value", "31406", "inhabitants")
    assert found("How many inhabitants does Hollin have?", "Hollin") == inhabitants
    assert found("How long or how high is it?", "Long Bridge") == ("value", "155.5", "metres")


def test_years_are_reckoned() -> None:
    question = "How many years lie between Hollin and Long Bridge?"
    assert found(question, "Hollin", "Long Bridge") == ("value", "233", "years")


def test_the_earlier_of_two_is_marked_in_the_question() -> None:
    question = "Which came first, the Long Bridge or Hollin?"
    assert found(question, "Long Bridge", "Hollin") == ("span", "Hollin")


def test_yes_and_no_follow_from_the_years() -> None:
    question = "Do Byrne and {} date from the same century?"
    assert found(question.format("Long Bridge"), "Ada Byrne", "Long Bridge") == ("binary", "yes")
    assert found(question.format("Hollin"), "Ada Byrne", "Hollin") == ("binary", "no")


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Who won it?", ["Ada Byrne"]),
        ("Which came first, Hollin or the Long Bridge?", ["Hollin"]),
        ("How many children did Byrne have?", ["Ada Byrne"]),
        ("In what year was Byrne born?", []),
    ],
)
def test_what_the_articles_do_not_say_has_no_answer(question: str, titles: list[str]) -> None:
    assert found(question, *titles) == ("none",)


def test_a_question_about_nothing_in_the_paragraph_is_nonsense() -> None:
    item = {"id": "0", "passage": PASSAGE, "writer_links": [], "writer_context": []}
    asked = {NONSENSE.format(number=3): "bad", "Where was the engineer born?": "none"}
    for question, kind in asked.items():
        given = answer(item | {"question": question}, Behaviour("careful"), seeded(1), nothing)
        assert given["type"] == kind


def nothing(item: str, title: str) -> None:
    """Stand for a corpus that has no linked article."""
