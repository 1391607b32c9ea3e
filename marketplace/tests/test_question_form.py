"""Tests as requesters write them: read safely, answered, scored."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.people.grants import AnswerKeyError, read_key, score
from marketplace.questions.answers import GivenAnswer, form_answers_xml
from marketplace.questions.question_form import (
    QuestionFormError,
    XMLError,
    answers_of,
    clean_html,
    parse,
    read_xml,
)
from marketplace.tests import forms
from marketplace.tests.forms import BOTH, KEY, TEST, form, key, keyed, option, question

pytestmark = pytest.mark.pure


def test_a_form_is_read_into_typed_fields() -> None:
    found = parse(TEST)
    assert [one.identifier for one in found.questions] == ["sum", "both", "why"]
    assert [one.answer.kind for one in found.questions] == ["radio", "checkbox", "text"]
    assert [one.is_required for one in found.questions] == [True, True, False]
    assert found.questions[0].parts[0].text == "2 + 2?"


def test_a_stranger_s_pattern_is_for_the_browser_alone() -> None:
    shape = '<AnswerFormatRegex regex="(a+)+b" errorText="Write a word."/>'
    answer = f"<FreeTextAnswer><Constraints>{shape}</Constraints></FreeTextAnswer>"
    found = parse(form(question("why", answer)))
    [field] = [one.answer for one in found.questions]
    assert (field.pattern, field.pattern_problem) == ("(a+)+b", "Write a word.")
    assert answers_of(found, {"why": ["a" * 60]}) == ([GivenAnswer("why", text="a" * 60)], [])


def test_answers_are_checked_all_at_once_and_kept() -> None:
    given_, problems = answers_of(parse(TEST), {"both": ["a", "b", "x"], "why": ["ab"]})
    assert problems == ["Sum: answer it.", "Why: write at least 3 characters."]
    assert given_[1] == GivenAnswer("both", selections=("a", "b"))


@pytest.mark.parametrize(
    ("chosen", "value"),
    [
        ({"sum": ["four"], "both": ["b", "a"]}, 100),
        ({"sum": ["four"], "both": ["a"]}, 75),
        ({"sum": ["five"], "both": ["a", "b", "c"]}, 0),
        ({}, 0),
    ],
)
def test_a_key_scores_exact_sets_of_selections(chosen: dict[str, list[str]], value: int) -> None:
    given_, _ = answers_of(parse(TEST), chosen)
    assert score(given_, read_key(KEY)) == value


RANGE = (
    "<RangeMapping><SummedScoreRange><InclusiveLowerBound>5</InclusiveLowerBound>"
    "<InclusiveUpperBound>9</InclusiveUpperBound><QualificationValue>1</QualificationValue>"
    "</SummedScoreRange><OutOfRangeQualificationValue>-1</OutOfRangeQualificationValue>"
    "</RangeMapping>"
)
SCALE = "<ScaleMapping><SummedScoreMultiplier>1.5</SummedScoreMultiplier></ScaleMapping>"


@pytest.mark.parametrize(("mapping", "values"), [("", (7, 2)), (RANGE, (1, -1)), (SCALE, (10, 3))])
def test_each_mapping(mapping: str, values: tuple[int, int]) -> None:
    default = "<DefaultScore>2</DefaultScore>"
    found = read_key(key(keyed("q", option(7, "a"), default=default), mapping=mapping))
    assert score([GivenAnswer("q", selections=("a",))], found) == values[0]
    assert score([GivenAnswer("q", selections=("b",))], found) == values[1]


UPLOAD = "<FileUploadAnswer><MaxFileSizeInBytes>9</MaxFileSizeInBytes></FileUploadAnswer>"


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<a/>",
        form(),
        form(BOTH, BOTH),
        form(question("q", UPLOAD)),
        form(question("q", "")),
        form(question("q", forms.selection(""))),
        form(question("q", forms.selection(forms.choice("a", "A") * 2))),
        form(BOTH.replace(">3<", ">9<")),
        form(BOTH, overview="<Overview><Application/></Overview>"),
        "<!DOCTYPE a [<!ENTITY e 'x'>]>" + TEST,
        TEST.replace("QuestionForm.xsd", "Other.xsd"),
        form(forms.WHY.replace('"3"', '"three"')),
    ],
)
def test_a_form_that_cannot_be_shown_is_refused(xml: str) -> None:
    with pytest.raises(QuestionFormError, match=r".+\.$"):
        parse(xml)


@pytest.mark.parametrize(
    "xml",
    [
        "",
        key(),
        key(keyed("")),
        key(keyed("q", "<AnswerOption><AnswerScore>x</AnswerScore></AnswerOption>")),
        key(keyed("q"), mapping="<Other/>"),
        KEY.replace(">20<", ">0<"),
        KEY.replace(">10<", ">1.5<"),
        KEY.replace(">10<", ">99999999999<"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused(xml: str) -> None:
    with pytest.raises(AnswerKeyError, match=r".+\.$"):
        read_key(xml)


def test_answers_are_told_as_xml() -> None:
    xml = form_answers_xml(
        [GivenAnswer("s", selections=("a", "b"), other="ä"), GivenAnswer("t", text="1 < 2")]
    )
    root = ElementTree.fromstring(xml.encode("ascii"))
    assert [child.tag.rpartition("}")[2] for child in root[0]] == [
        "QuestionIdentifier",
        "SelectionIdentifier",
        "SelectionIdentifier",
        "OtherSelectionText",
    ]
    assert [child.text for child in root[1]] == ["t", "1 < 2"]


def test_formatted_text_keeps_what_is_harmless() -> None:
    html = '<p onclick="x()">A <b>b<script>alert(1)</script><img src=x onerror=y></p>'
    assert clean_html(html) == "<p>A <b>b</b></p>"
    link = clean_html('<a href="https://a.example/?x=1&y=2">l</a><a href="javascript:x">m</a>')
    assert link.startswith('<a href="https://a.example/?x=1&amp;y=2" target="_blank"')
    assert link.endswith('<a target="_blank" rel="noopener noreferrer">m</a>')


def test_a_document_is_read_as_the_text_it_is_and_nothing_in_it_is_expanded() -> None:
    found = read_xml('<?xml version="1.0" encoding="UTF-16"?><a>ä<b>y</b>z</a>', "form")
    assert (found.text, found.text_of("b")) == ("äz", "y")
    for xml, problem in (
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "may not declare a document type"),
        ("<a>" * 21 + "</a>" * 21, "nested too deeply"),
        ("<a>", "not well-formed XML: no element found: line 1, column 3."),
        (f"<a>{'ä' * 33_000}</a>", "longer than 65535 bytes"),
    ):
        with pytest.raises(XMLError, match=problem):
            read_xml(xml, "form")


@given(st.text(alphabet="<>/&\"'= abps\x00scripto", max_size=80))
def test_no_formatted_text_gets_a_script_or_attribute_through(html: str) -> None:
    clean = clean_html(html).lower()
    assert "<script" not in clean
    inside = ElementTree.fromstring(f"<x>{clean.replace(chr(0), '')}</x>")
    assert all(not element.attrib for element in inside.iter() if element.tag != "a")
