"""A careful reader finds what the linked articles say, and says so when they do not."""

from typing import Any

import pytest

from annotation.protocols.iirc.simulation import answers
from annotation.protocols.iirc.simulation.articles import Article, Sentence

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


def article(title: str) -> Article:
    sentences, start = [], 0
    for text in LIVES[title].split(". "):
        sentences.append(Sentence(start, text))
        start += len(text) + 2
    return Article(title, tuple(sentences))


def found(question: str, *titles: str) -> tuple[Any, ...]:
    answer, proofs = answers.find(question, PASSAGE, [article(title) for title in titles])
    for proof in proofs:
        assert LIVES[proof.document][proof.start : proof.end] == proof.text
    if answer["type"] != "span":
        return tuple(answer.values())
    texts = {"question": question, **LIVES}
    return ("span", *(texts[one["document"]][one["start"] : one["end"]] for one in answer["spans"]))


@pytest.mark.parametrize(
    ("question", "title", "expected"),
    [
        ("In what year was this person born?", "Ada Byrne", "3 May 1811"),
        ("Where was Byrne born?", "Ada Byrne", "Garrow"),
        ("When did Byrne die?", "Ada Byrne", "4 June 1880"),
        ("What was the occupation of Byrne?", "Ada Byrne", "engineer"),
        ("What is Byrne known for?", "Ada Byrne", "Long Bridge"),
        ("Where did Byrne go to school?", "Ada Byrne", "Hollin School"),
        ("In what year was this structure built?", "Long Bridge", "1844"),
        ("Who designed or built it?", "Long Bridge", "Ada Byrne"),
        ("Who won it in 1903?", "Hollin", "Grace Holt"),
        ("In which country or region does Hollin lie?", "Hollin", "Arden"),
    ],
)
def test_spans_are_found(question: str, title: str, expected: str) -> None:
    assert found(question, title) == ("span", expected)


def test_numbers_are_written_in_digits_with_their_unit() -> None:
    assert found("How many inhabitants does Hollin have?", "Hollin") == (
        "value",
        "31406",
        "inhabitants",
    )
    assert found("How long or how high is it?", "Long Bridge") == ("value", "155.5", "metres")


def test_years_are_reckoned() -> None:
    assert found("How old was Byrne in 1844?", "Ada Byrne") == ("value", "33", "years")
    question = "How many years lie between the beginnings of Hollin and Long Bridge?"
    assert found(question, "Hollin", "Long Bridge") == ("value", "233", "years")


def test_the_earlier_of_two_is_marked_in_the_question() -> None:
    question = "Which is older, the Long Bridge or Hollin?"
    assert found(question, "Long Bridge", "Hollin") == ("span", "Hollin")


def test_yes_and_no_follow_from_the_years() -> None:
    question = "Do Byrne and {} date from the same century?"
    assert found(question.format("Long Bridge"), "Ada Byrne", "Long Bridge") == ("binary", "yes")
    assert found(question.format("Hollin"), "Ada Byrne", "Hollin") == ("binary", "no")


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Who won it?", ["Ada Byrne"]),
        ("How many members does Hollin have?", ["Hollin"]),
        ("Which is older, Hollin or the Long Bridge?", ["Hollin"]),
        ("How many children did Byrne have?", ["Ada Byrne"]),
        ("In what year was Byrne born?", []),
    ],
)
def test_what_the_articles_do_not_say_has_no_answer(question: str, titles: list[str]) -> None:
    assert found(question, *titles) == ("none",)


def test_a_question_about_nothing_in_the_paragraph_is_nonsense() -> None:
    nonsense = "What is the most important thing that this text says, number 3?"
    assert answers.is_nonsense(nonsense, PASSAGE)
    assert not answers.is_nonsense("Where was the engineer born?", PASSAGE)
