"""Templates: variables filled, fields found, what is not supported named. Pure."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marketplace
from marketplace.questions import template
from marketplace.questions.answers import answers_in, answers_xml, readable, with_parts
from marketplace.questions.question import read_question
from marketplace.questions.template import (
    document,
    filled,
    outline,
    question_xml,
    survey_page,
    variables,
    warnings,
)

pytestmark = pytest.mark.pure


def test_variables_are_found_once_and_filled() -> None:
    html = '<img src="${image_url}" alt="${ image_url }"><b>${name}</b> costs $5 {x}'
    assert variables(html) == ["image_url", "name"]
    values = {"image_url": "a.png?x=1&y=2", "name": "<i>“5”</i>"}
    assert filled(html, values, are_html=False) == (
        '<img src="a.png?x=1&amp;y=2" alt="a.png?x=1&amp;y=2">'
        "<b>&lt;i&gt;“5”&lt;/i&gt;</b> costs $5 {x}"
    )
    assert "<b><i>“5”</i></b>" in filled(html, values, are_html=True)
    assert filled("${gone}", {}, are_html=False) == ""


@given(st.text(), st.text())
def test_a_value_is_never_taken_for_a_variable(value: str, other: str) -> None:
    html = filled("[${a}|${b}]", {"a": value, "b": other}, are_html=True)
    assert html == f"[{value}|{other}]"


def test_fields_and_what_will_not_work_are_named() -> None:
    html = (
        '<input name="a"><input type="submit" name="b"><textarea></textarea>'
        '<crowd-radio-button name="c"></crowd-radio-button><crowd-instance-segmentation name="d">'
        '</crowd-instance-segmentation><input type="file" name="e"><crowd-keypoint>'
    )
    assert outline(html).fields == ["a", "c", "e", "crowd-keypoint"]
    said = " ".join(warnings(html))
    assert "<crowd-instance-segmentation> is not drawn here" in said
    assert "A <textarea> has no name" in said
    assert "Files cannot be handed in" in said
    assert "No field has a name" in warnings("<p>Hello</p>")[0]
    assert warnings('<input name="a">') == []


def test_a_template_becomes_a_whole_page() -> None:
    bare = document('<input name="a">', "A & B")
    assert "<title>A &amp; B</title>" in bare
    assert bare.count("<form") == 1
    assert 'type="submit"' in bare
    own = document('<html><head></head><body><form><input name="a"></form></body></html>', "T")
    assert own.count("<form") == own.count("<html") == 1
    assert own.index("externalHIT_v1.js") < own.index("</head>")
    crowd = document('<crowd-form><crowd-input name="a"></crowd-input></crowd-form>', "T")
    assert "crowd-html-elements.js" in crowd
    assert "<form" not in crowd


def test_the_elements_that_are_named_are_those_that_are_drawn() -> None:
    script = Path(marketplace.__file__).parent / "static" / "marketplace" / "crowd.js"
    defined = set(re.findall(r'^ +"(crowd-[a-z-]+)": Crowd', script.read_text("utf-8"), re.M))
    assert defined | {"crowd-tab"} == template.DRAWN
    script_tag = f'<script src="https://a.example/{template.SCRIPT}"></script>'
    page = f"{script_tag}<!-- <crowd-a> --><crowd-b>"
    assert template.unsupported_elements(page) == ["crowd-b"]
    assert template.unsupported_elements("<crowd-b>") == []
    for kind in ("file", "File"):
        page = f'{script_tag}<input type="{kind}" name="e"><input type name="x">'
        assert template.unsupported_elements(page) == [template.FILE_FIELD]


def test_a_script_that_is_there_is_not_put_in_twice() -> None:
    html = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script><crowd-form></crowd-form>'
    assert document(html, "T").count("crowd-html-elements.js") == 1


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_page_survives_the_question_s_xml(text: str) -> None:
    page = f"<!DOCTYPE html><p>]]>{text}</p>"
    assert read_question(question_xml(page, 450)).html == page  # type: ignore[union-attr]


def test_a_whole_page_without_a_doctype_gets_one() -> None:
    page = document("<html><head></head><body><form><input name=a></form></body></html>", "T")
    assert page.startswith("<!DOCTYPE html>\n<html>")
    assert read_question(question_xml(page)).kind == "html"


def test_a_survey_s_address_cannot_break_out_of_its_link() -> None:
    html = survey_page('https://s.example/?a=1&b="><script>', "<b>Ten minutes</b>")
    assert "<script>" not in html
    assert "&lt;b&gt;Ten minutes" in html


def test_the_parts_of_a_crowd_form_are_read_by_name() -> None:
    packed = '[{"q": "Who?", "kind": {"a": true, "b": true, "c": false}, "n": 8, "at": [{"x": 1}]}]'
    parts = {"q": "Who?", "kind": "a|b", "n": "8", "at": '[{"x": 1}]'}
    sent = answers_xml([("taskAnswers", [packed])])
    assert readable(sent) == parts
    assert with_parts(answers_in(sent)) == {"taskAnswers": packed, **parts}
    for other in ("no JSON", "[1]", "3"):
        plain = answers_xml([("taskAnswers", [other])])
        assert readable(plain) == with_parts(answers_in(plain)) == {"taskAnswers": other}


@given(st.lists(st.tuples(st.text("abc", min_size=1), st.text(max_size=20)), max_size=5))
def test_answers_are_read_as_they_were_written(fields: list[tuple[str, str]]) -> None:
    unique = dict(fields)
    allowed = {
        name: "".join(
            c for c in value if c in "\t\n\r" or (ord(c) >= 32 and c not in "\ufffe\uffff")
        )
        for name, value in unique.items()
    }
    assert answers_in(answers_xml((name, [value]) for name, value in unique.items())) == allowed
