"""Answers as XML: ASCII, well-formed, and what was written."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.questions.answers import NAMESPACE, answers_xml

pytestmark = pytest.mark.pure


def read_back(xml: str) -> list[tuple[str, str]]:
    root = ElementTree.fromstring(xml.encode("ascii"))
    name = "{" + NAMESPACE + "}"
    return [
        (
            answer.findtext(f"{name}QuestionIdentifier", ""),
            answer.findtext(f"{name}FreeText", ""),
        )
        for answer in root.iter(f"{name}Answer")
    ]


def test_other_characters_are_references_and_reserved_names_are_left_out() -> None:
    xml = answers_xml([("assignmentId", ["X"]), ("q", ["Zoë <3"]), ("turkSubmitTo", ["Y"])])
    assert xml.startswith('<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="')
    assert "<FreeText>Zo&#235; &lt;3</FreeText>" in xml
    assert read_back(xml) == [("q", "Zoë <3")]


def test_many_values_of_one_field_are_joined() -> None:
    assert read_back(answers_xml([("box", ["a", "b"])])) == [("box", "a|b")]


def test_what_xml_cannot_hold_is_dropped() -> None:
    assert read_back(answers_xml([("q", ["a\x00\x07\ufffeb"])])) == [("q", "ab")]


def test_a_carriage_return_survives() -> None:
    assert read_back(answers_xml([("q", ["a\r\nb"])])) == [("q", "a\r\nb")]


@given(st.lists(st.tuples(st.text(max_size=10), st.lists(st.text(max_size=50), max_size=3))))
def test_whatever_is_sent_is_read_back_less_what_xml_forbids(
    fields: list[tuple[str, list[str]]],
) -> None:
    n_sent = sum(name not in {"assignmentId", "turkSubmitTo"} for name, _ in fields)
    assert len(read_back(answers_xml(fields))) == n_sent
