"""The light hint speaks up where one paragraph knows all that is asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.reader_hints import answers_alone

pytestmark = pytest.mark.pure
TITLES = ("Meteora (album)", "Linkin Park")
TEXTS = (
    "Meteora is the second album of the American band Linkin Park. It was released in March 2003.",
    "Linkin Park is a band from Agoura Hills, California. It was formed in 1996.",
)


def test_a_question_about_one_paragraph_is_noticed():
    question = "When was the second album of Linkin Park, Meteora, released?"
    assert answers_alone(question, "March 2003", TITLES, TEXTS) == 0


def test_a_question_that_needs_a_word_of_each_is_not():
    question = "When was the band formed whose second album is Meteora?"
    assert answers_alone(question, "1996", TITLES, TEXTS) is None


def test_yes_or_no_about_both_titles_needs_both():
    question = "Were Meteora and Linkin Park both released in March 2003?"
    assert answers_alone(question, "no", TITLES, TEXTS) is None
    assert answers_alone("Was the album Meteora released in March?", "yes", TITLES, TEXTS) == 0


def test_a_paragraph_without_the_answer_does_not_give_it():
    question = "When was the second album of Linkin Park, Meteora, released?"
    assert answers_alone(question, "1996", TITLES, TEXTS) is None


@given(st.text(), st.text(), st.text(), st.text())
def test_no_text_breaks_it(question, answer, first, second):
    assert answers_alone(question, answer, (first, second), (second, first)) in (0, 1, None)


@pytest.mark.data
def test_of_real_hard_questions_it_rarely_says_so(data):
    path = data / "official/hotpotqa/reflexion_100_distractor_official_nesting.json"
    items = json.loads(path.read_text())
    said = 0
    for item in items:
        texts = {title: "".join(sentences) for title, sentences in item["context"]}
        titles = list(dict.fromkeys(title for title, _ in item["supporting_facts"]))
        given = [texts[title] for title in titles]
        said += answers_alone(item["question"], item["answer"], titles, given) is not None
    assert said <= 8
