"""A requester's own HTML: taken, shown without an origin, and handed in like any other page."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from marketplace.models import HIT
from marketplace.questions.question import HTML
from marketplace.questions.template import SCRIPT, unsupported_elements, warnings
from marketplace.tests.boto import HOST
from marketplace.tests.forms import SUM, WHY, form
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

PAGE = (
    "<!DOCTYPE html><html><head><script type='text/javascript' "
    "src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script></head><body>"
    "<form name='mturk_form' method='post' id='mturk_form' "
    "action='https://www.mturk.com/mturk/externalSubmit'>"
    "<input type='hidden' value='' name='assignmentId' id='assignmentId'/>"
    "<textarea name='comment'></textarea><input type='submit'></form>"
    "<script>turkSetAssignmentID();</script></body></html>"
)


def question(html: str = PAGE, height: str = "450") -> str:
    return (
        f'<HTMLQuestion xmlns="{HTML}"><HTMLContent><![CDATA[{html}]]></HTMLContent>'
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


def test_it_is_previewed_accepted_and_handed_in(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita, Question=question())
    assert hit["Question"] == question()
    looked = ada.get(f"/hits/{hit['HITId']}/").content.decode()
    assert f"/hits/{hit['HITId']}/question/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in looked
    frame = ada.accept(hit)
    assert 'data-origin="null"' in frame.response.content.decode()
    assert "allow-same-origin" not in frame.response.content.decode()
    assert frame.query["turkSubmitTo"].startswith(f"http://{HOST}/accepted/")

    page = Client(headers={"Host": HOST}).get(frame.url)
    html = page.content.decode()
    assert "externalHIT_v1" not in html
    assert "marketplace/external_hit.js" in html
    assert html.rstrip().endswith("</script>")
    assert page["Content-Security-Policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in page["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in page["Content-Security-Policy"]

    assert frame.submit(comment="Good.").status_code == 200
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert "<FreeText>Good.</FreeText>" in assignment["Answer"]


def test_a_section_that_no_page_has_is_taken_as_a_comment() -> None:
    assert unsupported_elements(f"{SCRIPT}<![x y]><crowd-chart></crowd-chart>") == ["crowd-chart"]
    assert warnings(PAGE.replace("<textarea", "<![x y]><textarea")) == warnings(PAGE)


def test_a_page_that_was_taken_before_a_rule_is_shown_as_it_was(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, Question=question())
    HIT.objects.update(
        question=f'<HTMLQuestion xmlns="{HTML}"><FrameHeight>450</FrameHeight><HTMLContent>'
        "<![CDATA[<p>Without a DOCTYPE</p>]]></HTMLContent></HTMLQuestion>"
    )
    page = Client(headers={"Host": HOST}).get(ada.accept(hit).url)
    assert "<p>Without a DOCTYPE</p>" in page.content.decode()


def test_the_page_is_only_for_those_who_may_see_it(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    need = {
        "QualificationTypeId": "00000000000000000060",
        "Comparator": "EqualTo",
        "IntegerValues": [1],
        "ActionsGuarded": "PreviewAndAccept",
    }
    closed = make_hit(rita, Question=question(), QualificationRequirements=[need])
    external = make_hit(rita)
    assert ada.get(f"/hits/{closed['HITId']}/question/").status_code == 404
    assert ada.get(f"/hits/{external['HITId']}/question/").status_code == 404
    assert ada.get("/accepted/nothing/question/").status_code == 404
    frame = grace.accept(external)
    secret = frame.query["turkSubmitTo"].rpartition("/")[2]
    assert grace.get(f"/accepted/{secret}/question/").status_code == 404


@pytest.mark.parametrize(
    "xml",
    [
        question(""),
        question(height="tall"),
        question().replace("<![CDATA[", "").replace("]]>", ""),
        question().replace("HTMLContent", "Content"),
        question("x" * 66_000),
    ],
)
def test_what_cannot_be_shown_is_refused(rita: Any, make_hit: Any, xml: str) -> None:
    with refused("XMLParseError"):
        make_hit(rita, Question=xml)


def test_a_form_is_asked_as_tests_are_and_comes_back_in_its_own_kind_of_answer(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, Question=form(SUM, WHY), MaxAssignments=2)
    assert hit["Question"] == form(SUM, WHY)
    assert f"/hits/{hit['HITId']}/question/" in ada.get(f"/hits/{hit['HITId']}/").content.decode()
    looked = ada.get(f"/hits/{hit['HITId']}/question/").content.decode()
    assert "2 + 2?" in looked
    assert "disabled" in looked
    assert "/accepted/" not in looked

    frame = ada.accept(hit)
    assert "allow-same-origin" not in frame.response.content.decode()
    page = Client(headers={"Host": HOST}).get(frame.url)
    assert "frame-ancestors 'self'" in page["Content-Security-Policy"]
    path = urlsplit(frame.query["turkSubmitTo"]).path
    assert f'action="{path}/mturk/externalSubmit"' in page.content.decode()
    again = frame.submit(why="For the <joke>")
    assert (again.status_code, "answer it." in again.content.decode()) == (400, True)
    assert "For the &lt;joke&gt;" in again.content.decode()
    assert frame.submit(sum="four", why="For the <joke>").status_code == 200
    [work] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert "<SelectionIdentifier>four</SelectionIdentifier>" in work["Answer"]
    assert "<FreeText>For the &lt;joke&gt;</FreeText>" in work["Answer"]
    assert "four" in ada.get(frame.path).content.decode()
    with refused("XMLParseError"):
        make_hit(rita, Question=form(SUM).replace("SelectionAnswer", "FileUploadAnswer"))
