"""The collection's pages and the marketplace's desk lead to each other, without asking again."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test import Client

from annotation.dashboard.tests.making import make_browser
from collector.models import Collection, CollectionState
from collector.models.accounts import create_account, owner
from marketplace import clock
from marketplace.desk.users import close_user
from marketplace.hits import acceptance
from marketplace.models import HIT, AccessKey, AuditEntry, DeskSession, DeskUser
from marketplace.people.accounts import open_requester
from marketplace.tests.desk import DeskVisitor, desk_client
from tasks.ledger import pay_terms
from tasks.tests.making import make_collection
from tests.page_workers import run
from tests.whole_world import whole_world

pytestmark = pytest.mark.django_db(databases=["default", "marketplace"])


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Any]:
    settings.MARKETPLACE_OPEN_DESK = False
    with whole_world(monkeypatch, settings) as found:
        yield found


@pytest.fixture
def rita(world: Any, settings: Any) -> Client:
    """Return the browser of whoever set the server up."""
    settings.PASSWORDLESS_SIGN_IN = True
    browser = make_browser()
    browser.force_login(owner())
    return browser


def step(browser: Client, to: str = "/desk/hits/", back: str = "/collections/pilot/") -> str:
    """Return the path that Collector leads to when somebody steps across."""
    asked = urlencode({"to": to, "back": back})
    parts = urlsplit(browser.get(f"/marketplace/?{asked}")["Location"])
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def test_one_steps_from_a_collection_to_its_hits_and_back_by_name(rita: Client) -> None:
    collection = make_collection()
    collection.stages.update(state="draft")
    Collection.objects.update(state=CollectionState.DRAFT)
    run("publish", "pilot")
    page = rita.get("/collections/pilot/").content.decode()
    assert "of%3DPilot" in page
    desk = desk_client()
    listed = desk.get(step(rita, "/desk/hits/?of=Pilot"), follow=True).content.decode()
    assert 'href="http://localhost:8000/collections/pilot/">Open Pilot' in listed
    assert "Back to Collector" in listed
    hit = HIT.objects.first()
    assert hit
    by_id = desk.get(f"/desk/hits/by-id/{hit.hit_id}/", follow=True).content.decode()
    assert 'Part of <a href="http://localhost:8000/collections/pilot/">Pilot</a>' in by_id
    given = desk.get("/desk/team/").content.decode()
    assert "(Pilot)" in given
    assert 'Asked for by <a href="http://localhost:8000/collections/pilot/">Pilot</a>' in given
    assert AuditEntry.objects.get().what == "Came in by a link of Rita"


def test_workers_are_told_the_times_of_a_contest_as_the_marketplace_has_them() -> None:
    assert acceptance.RAISED_WITHIN.days == pay_terms.CONTESTED_WITHIN_DAYS
    assert acceptance.ANSWER_WITHIN.days == pay_terms.ANSWERED_WITHIN_DAYS


def test_a_link_is_good_once_for_a_minute_and_for_its_own_requester(rita: Client) -> None:
    path = step(rita)
    assert desk_client().get(path).status_code == 302
    assert desk_client().get(path).status_code == 403
    text, _, signature = step(rita).rstrip("/").rpartition("/")[2].partition(".")
    for token in (f"{text}.{'0' * 64}", f"{text[:-4]}AAAA.{signature}", text, "é.é", "x" * 3000):
        assert desk_client().get(f"/desk/enter/{token}/").status_code in (403, 404)
    late = step(rita)
    with clock.shifted():
        clock.advance(timedelta(minutes=2))
        assert desk_client().get(late).status_code == 403
    revoked = step(rita)
    AccessKey.objects.update(revoked_at=clock.now())
    assert desk_client().get(revoked).status_code == 403
    assert DeskSession.objects.count() == 1


def test_it_leads_nowhere_but_to_the_desk(rita: Client) -> None:
    for to in ("/hits/", "https://evil.example/", "//evil.example/desk/"):
        assert rita.get(f"/marketplace/?{urlencode({'to': to})}").status_code == 404
    desk = desk_client()
    page = desk.get(step(rita, back="https://evil.example/"), follow=True).content.decode()
    assert "evil.example" not in page


def test_who_sits_at_the_desk_already_is_not_somebody_else_then(rita: Client, world: Any) -> None:
    host = DeskVisitor("Ida")
    page = host.client.get(step(rita), follow=True).content.decode()
    assert "You act for <strong>Rita</strong>" in page
    assert AuditEntry.objects.filter(who="Ida", what="Began to act for Rita").exists()
    olive = DeskVisitor("Olive", open_requester("Olive", "", 0, clock.now()))
    told = olive.client.get(step(rita))
    assert told.status_code == 403
    assert "belongs to another requester" in told.content.decode()
    person = DeskVisitor("Grace", world.requester)
    assert person.client.get(step(rita), follow=True).status_code == 200
    assert not DeskUser.objects.filter(name__contains="·").exists()


def test_the_host_can_close_the_account_that_came_by_a_link(rita: Client) -> None:
    desk_client().get(step(rita))
    close_user(DeskUser.objects.get())
    assert desk_client().get(step(rita)).status_code == 403


def test_a_reviewer_is_asked_by_the_desk(rita: Client, settings: Any) -> None:
    settings.PASSWORDLESS_SIGN_IN = False
    create_account("grace", "long enough to sign in")
    reviewer = make_browser()
    reviewer.login(username="grace", password="long enough to sign in")
    found = urlsplit(step(reviewer))
    assert (found.path, parse_qs(found.query)["next"]) == ("/desk/sign-in/", ["/desk/hits/"])


def test_where_there_is_no_desk_nothing_leads_to_it(rita: Client, settings: Any) -> None:
    assert ">Marketplace</a>" in rita.get("/collections/").content.decode()
    settings.MARKETPLACE_DESK = False
    assert ">Marketplace</a>" not in rita.get("/collections/").content.decode()
    assert rita.get("/marketplace/").status_code == 404
