"""Sentences are cut where a reader would, and their offsets are true."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.ingest.segmentation import n_tokens, split, tokens, version


def sentences(text: str, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in split(text, language)]


def test_a_question_in_quotes_goes_on_with_the_verb() -> None:
    assert sentences('He waited. "Really?" she asked. He left.') == [
        "He waited.",
        '"Really?" she asked.',
        "He left.",
    ]


def test_an_abbreviation_ends_no_sentence() -> None:
    assert sentences("Dr. Ada drew Fig. 2 for J. Orla. It was large.") == [
        "Dr. Ada drew Fig. 2 for J. Orla.",
        "It was large.",
    ]


@pytest.mark.parametrize(
    ("language", "text", "n"),
    [
        ("ar", "هذه جملة. هل هذه أخرى؟ نعم.", 3),
        ("hi", "यह वाक्य है। यह दूसरा है।", 2),
        ("ja", "これは文です。「本当？」と彼は言った。終わり", 3),
        ("zh", "这是句子。下一句！", 2),
        ("ltg", "Tys ir. Ūtrys.", 2),
    ],
)
def test_it_knows_the_stops_of_other_scripts(language: str, text: str, n: int) -> None:
    assert len(sentences(text, language)) == n


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="aB .!?\"')(。\n", max_size=60))
def test_sentences_cover_all_that_is_not_blank(text: str) -> None:
    found = split(text, "en")
    inside = "".join(text[start:end] for start, end in found)
    assert "".join(inside.split()) == "".join(text.split())
    assert all(first[1] <= second[0] for first, second in pairwise(found))
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in found)


def test_its_version_names_the_library_and_the_rules() -> None:
    assert version().startswith("spacy-")


def test_tokens_have_places_and_white_space_is_none() -> None:
    text = "Ada's  notes,\nread."
    assert [text[start:end] for start, end in tokens(text, "en")] == [
        *("Ada", "'s", "notes", ",", "read", ".")
    ]


@given(st.text())
def test_as_many_are_counted_as_are_cut(text: str) -> None:
    assert n_tokens(text, "en") == len(tokens(text, "en"))


def test_cutting_a_text_does_not_load_torch_where_it_is_installed(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("")
    program = (
        "import sys; from collector.ingest.segmentation import tokens; "
        "assert tokens('A b', 'en'); assert 'torch' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
