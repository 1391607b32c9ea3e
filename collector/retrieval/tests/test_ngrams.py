"""N-grams are DrQA's, for the golden queries and for any text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics.tests.golden import vectors
from collector.retrieval.terms import grams, words

pytestmark = pytest.mark.pure


def test_the_grams_of_golden_queries_are_equal() -> None:
    for query in vectors("drqa_tfidf.json")["queries"]:
        assert grams(query["query"]) == query["ngrams"]


def test_a_sign_is_a_word_a_stop_word_parts_and_accents_stay_with_their_letters() -> None:
    signs = ["zoe\u0308", "'", "s", "3", ".", "5", "°", "c", "u", "_", "2"]
    assert words("Zoë's 3.5 °C\u200b\tU_2") == signs
    assert grams("the Harbour of Hollin, Hollin") == ["harbour", "hollin", "hollin"]
    assert grams("red harbour wall") == ["red", "red harbour", "harbour", "harbour wall", "wall"]
    assert grams("of the , —") == []


@given(st.text() | st.text(alphabet="aΣσ.' é𝒳𝟙·ͅ"))
def test_words_are_the_runs_of_the_definition(text: str) -> None:
    assert words(text) == [run.lower() for run in _runs(text)]


def _runs(text: str) -> list[str]:
    """Return the words of a text by the definition alone, slowly."""
    runs: list[str] = []
    inside = False
    for character in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(character)[0]
        if kind in "LNM" and inside:
            runs[-1] += character
        elif kind not in "ZC":
            runs.append(character)
        inside = kind in "LNM"
    return runs
