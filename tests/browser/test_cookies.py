"""The worker's frame is a site of its own: it sets no cookie and is sent none."""

from tests.browser import EVERY_TEST
from tests.browser.conftest import Enter
from tests.browser.question_page import QuestionPage, plan
from tests.serving import Instance

pytestmark = EVERY_TEST


def test_work_needs_no_cookie(practice: Instance, enter: Enter) -> None:
    ada = enter("Ada of no cookies")
    # What a browser would send wherever it may: the frame's requests must come without it.
    probe = {"name": "probe", "value": "1", "sameSite": "None", "secure": True}
    ada.context.add_cookies([{**probe, "url": practice.collector_url}])
    frame = ada.begin("Single: one question")
    page = QuestionPage(ada)
    page.write(plan(list(page.items.values()), 1, 1)[0])
    ada.wait_until_saved()
    assert frame.evaluate("document.cookie") == ""
    page.submit()
    ada.expect_receipt()
    assert len(ada.visits()) >= 5
    assert ada.cookies_of_the_frame() == []
    assert ada.mistakes == []
