"""Questions made of paragraphs: what they ask for stands in their texts, and not in their words."""

import random
import re
from itertools import accumulate, pairwise

import pytest

from annotation.metrics.token_overlap import exact_match
from readers.light.cloze import ClozeQuestions
from readers.reader import Example, Text

pytestmark = pytest.mark.pure
NUMBER = 300


def text(title: str, *sentences: str) -> Text:
    ends = accumulate(map(len, sentences), initial=0)
    return Text(title, "".join(sentences), tuple(pairwise(ends)))


def person(at: int) -> Text:
    return text(
        f"Ada Brook{at}",
        f"Ada Brook{at} (born 3 May {1900 + at}) is an English singer from Tarn, Kent.",
        f" She leads The Marsh Choir {at} and moved to Cape Wick in June {1930 + at}.",
    )


def band(at: int) -> Text:
    return text(
        f"The Marsh Choir {at}",
        f"The Marsh Choir {at} is an American folk band formed in {1930 + at}.",
        f" Its singer is Ada Brook{at} who wrote their 14 songs for the label Old Barn Records.",
    )


TEXTS = [make(at) for at in range(8) for make in (person, band)]


@pytest.fixture(scope="module")
def made() -> list[Example]:
    return ClozeQuestions(TEXTS, random.Random(1)).make(NUMBER)


def test_each_asks_for_words_of_its_texts_that_it_does_not_say(made: list[Example]) -> None:
    assert len(made) == NUMBER
    for one in made:
        assert len(one.texts) == 2
        assert any(one.answer in f"{text.title} {text.text}" for text in one.texts)
        if " or " not in one.question:
            assert one.answer.lower() not in one.question.lower()
        assert one.question.endswith("?")


def test_they_ask_for_what_the_answer_is(made: list[Example]) -> None:
    dates = [one for one in made if re.fullmatch(r"\d{4}", one.answer)]
    people = [one for one in made if re.fullmatch(r"Ada Brook\d", one.answer)]
    assert dates
    assert all(re.search(r"year|when", one.question, re.I) for one in dates)
    asked = [one for one in people if " or " not in one.question]
    assert asked
    assert all(re.search(r"who|singer", one.question, re.I) for one in asked)


def test_some_go_by_way_of_the_other_text(made: list[Example]) -> None:
    bridges = [one for one in made if re.search(r"the (\w+ )*(band|singer) ", one.question)]
    assert len(bridges) > NUMBER / 10


def test_who_was_first_is_right(made: list[Example]) -> None:
    compared = [one for one in made if "older" in one.question or "born first" in one.question]
    years = {one.title: int(re.findall(r"\d{4}", one.text)[0]) for one in TEXTS}
    assert compared
    for one in compared:
        first = min(one.texts, key=lambda each: years[each.title])
        assert exact_match(one.answer, first.title)


def test_the_same_seed_makes_the_same(made: list[Example]) -> None:
    assert ClozeQuestions(TEXTS, random.Random(1)).make(NUMBER) == made


def test_paragraphs_that_say_nothing_make_no_questions() -> None:
    for texts in ([], [text("Tarn", "Tarn is.")], [text("Tarn", ""), text("Wick", "it is so.")]):
        assert ClozeQuestions(texts, random.Random(1)).make(3) == []
