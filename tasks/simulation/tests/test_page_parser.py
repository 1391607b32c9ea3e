"""A page is read as a browser reads it; what it does not have cannot be used."""

import pytest

from tasks.simulation.browser import StuckError, parse_page

HTML = """<!doctype html><h1>Hand <em>in</em></h1><p role="alert">Mend this.</p>
<main data-page="notice"><form method="post" action="/go">
<input type="hidden" name="csrf" value="1"><input name="name" value="Ada">
<input type="checkbox" name="remember"><textarea name="why"></textarea>
<button type="button">Not a submit</button>
<button name="answer" value="yes">I agree<span>: go</span></button></form></main>
<a href="/work/7/">On</a><iframe id="task" src="/f?a=1&amp;b=2"></iframe>
<script id="page-state" type="application/json">{"kind": "question", "x": "\\u003C"}</script>"""


def test_it_reads_forms_links_frames_and_data() -> None:
    page = parse_page(HTML, "http://host.example/here/")
    assert page.heading == "Hand in"
    assert page.kind == "notice"
    assert page.message == "Mend this."
    assert page.links == [("http://host.example/work/7/", "On")]
    assert page.frames[0]["src"] == "/f?a=1&b=2"
    assert page.data("page-state") == {"kind": "question", "x": "<"}


def test_a_pressed_button_sends_the_fields_and_itself() -> None:
    form = parse_page(HTML, "http://host.example/here/").form("I agree")
    assert form.action == "http://host.example/go"
    assert form.filled("I agree", {"name": "Grace"}) == {
        "csrf": "1",
        "name": "Grace",
        "why": "",
        "answer": "yes",
    }
    assert form.filled("I agree", {"remember": "on"})["remember"] == "on"


def test_it_refuses_a_button_that_is_not_there() -> None:
    page = parse_page(HTML, "http://host.example/here/")
    with pytest.raises(StuckError, match="no button 'Not a submit'"):
        page.form("Not a submit")
    with pytest.raises(StuckError, match=r"no button 'Submit' to press. Buttons: 'I agree: go'"):
        page.forms[0].filled("Submit", {})


def test_it_refuses_a_field_that_is_not_there() -> None:
    form = parse_page(HTML, "http://host.example/here/").form("I agree")
    with pytest.raises(StuckError, match="no field 'wage'"):
        form.filled("I agree", {"wage": "9"})


def test_missing_data_is_named() -> None:
    with pytest.raises(StuckError, match="page-state"):
        parse_page("<h1>Bare</h1>", "http://host.example/").data("page-state")
