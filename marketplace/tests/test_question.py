"""What may be asked, and what is refused, however hostile the XML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.models.hits import kind_of
from marketplace.questions.question import (
    EXTERNAL,
    HTML,
    ExternalQuestion,
    FormQuestion,
    HTMLQuestion,
    QuestionError,
    read_question,
)
from marketplace.tests.forms import SUM, form

pytestmark = pytest.mark.pure


def external(url: str = "https://a.example/", height: str = "0", before: str = "") -> str:
    return (
        f'{before}<ExternalQuestion xmlns="{EXTERNAL}"><ExternalURL>{url}</ExternalURL>'
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


def test_it_reads_address_and_height() -> None:
    question = read_question(external("https://a.example/t?x=1&amp;y=2", "450"))
    assert question == ExternalQuestion("https://a.example/t?x=1&y=2", 450)


def test_a_declaration_and_white_space_are_fine() -> None:
    before = '<?xml version="1.0" encoding="UTF-8"?>\n'
    assert read_question(external(" https://a.example/\n", " 0 ", before)).frame_height == 0


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "not xml",
        "<a>",
        external("https://a.example/?x=1&y=2"),
        external(before="<!DOCTYPE x [<!ENTITY e 'eeee'>]>"),
        external("&e;", before='<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
        external("javascript:alert(1)"),
        external("//a.example/"),
        external("https://user:word@a.example/"),
        external("https://a.example:port/"),
        external("https://a b.example/"),
        external("https://"),
        external(height="-1"),
        external(height="tall"),
        external(height=""),
        external().replace(EXTERNAL, "http://other.example/x.xsd"),
        external().replace("</ExternalQuestion>", "<More/></ExternalQuestion>"),
        "<a>" * 50 + "</a>" * 50,
        external("https://a.example/" + "x" * 66_000),
        external("https://a.example/" + "x" * 4_096),
        f'<ExternalQuestion xmlns="{EXTERNAL}"><FrameHeight>0</FrameHeight>'
        "<ExternalURL>https://a.example/</ExternalURL></ExternalQuestion>",
        f'<HTMLQuestion xmlns="{HTML}"><HTMLContent><![CDATA[<p>a</p>]]></HTMLContent>'
        "<FrameHeight>0</FrameHeight></HTMLQuestion>",
    ],
)
def test_it_refuses_with_a_sentence(xml: str) -> None:
    with pytest.raises(QuestionError, match=r".+\.$"):
        read_question(xml)


def test_a_form_is_read_and_known_again_by_its_first_element() -> None:
    read = read_question(form(SUM))
    assert isinstance(read, FormQuestion)
    assert [asked.identifier for asked in read.form.questions] == ["sum"]
    before = "\ufeff<?xml version='1.0'?><!-- <HTMLQuestion> -->\n"
    for xml, kind in ((form(SUM), "form"), (external(), "external"), ("<HTMLQuestion/>", "html")):
        assert kind_of(xml) == kind_of(before + xml) == kind
    for wrong in (form(), form(SUM.replace(">sum<", ">assignmentId<"))):
        with pytest.raises(QuestionError, match=r".+\.$"):
            read_question(wrong)


def test_html_is_taken_as_it_is() -> None:
    content = "<![CDATA[ <!-- a --> <!doctype html><p>1 &lt; 2</p>]]>"
    xml = f'<HTMLQuestion xmlns="{HTML}"><HTMLContent>{content}</HTMLContent>'
    question = read_question(f"{xml}<FrameHeight>0</FrameHeight></HTMLQuestion>")
    assert question == HTMLQuestion("<!-- a --> <!doctype html><p>1 &lt; 2</p>", 0)


@given(st.text(max_size=300), st.text(max_size=20))
def test_no_text_does_more_than_be_refused(url: str, height: str) -> None:
    try:
        question = read_question(external(url, height))
    except QuestionError:
        return
    assert question.url.startswith(("http://", "https://"))
