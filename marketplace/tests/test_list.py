"""The list of HITs: order, filters, what is left out, what is in the way and the way in."""

import re
from typing import Any

import pytest

from marketplace.models import HITType, Requester, Worker
from marketplace.requirements import LOCALE
from marketplace.site.choices import Choices, choices_from
from marketplace.site.facts import least_width
from marketplace.tests.conftest import QUESTION
from marketplace.tests.visitor import Visitor

COUNTRY = "00000000000000000071"


def titles(visitor: Visitor, address: str = "/hits/") -> list[str]:
    """Return the titles that can be accepted, in order."""
    html = visitor.get(address).content.decode()
    return re.findall(r'Accept<span class="unseen"> ([^<]*)</span>', html)


@pytest.fixture
def three(rita: Any, other_requester: Any, make_hit: Any) -> None:
    """Three kinds of HITs: slow and well paid, quick and little, unknown."""
    make_hit(rita, Title="Slow", Reward="6.00", AssignmentDurationInSeconds=7200)
    make_hit(other_requester, Title="Quick", Reward="0.50", AssignmentDurationInSeconds=600)
    make_hit(rita, Title="Unknown", Reward="2.00", AssignmentDurationInSeconds=5400)
    HITType.objects.filter(title="Slow").update(recent_seconds=[3000, 3600, 9000])
    HITType.objects.filter(title="Quick").update(recent_seconds=[50, 60, 70])


@pytest.mark.usefixtures("three")
def test_it_is_sorted_as_asked_and_remembers_it(ada: Visitor) -> None:
    assert titles(ada) == ["Unknown", "Quick", "Slow"]
    assert titles(ada, "/hits/?order=reward") == ["Slow", "Unknown", "Quick"]
    assert titles(ada, "/hits/?order=shortest") == ["Quick", "Slow", "Unknown"]
    assert titles(ada, "/hits/?order=requester") == ["Quick", "Unknown", "Slow"]
    assert titles(ada, "/hits/?order=hourly") == ["Quick", "Slow", "Unknown"]
    assert titles(ada) == ["Quick", "Slow", "Unknown"]


@pytest.mark.usefixtures("three")
def test_it_is_filtered_as_asked(ada: Visitor) -> None:
    assert titles(ada, "/hits/?least=2") == ["Unknown", "Slow"]
    assert titles(ada, "/hits/?hourly=7,50") == ["Quick"]
    assert titles(ada, "/hits/?minutes=10") == ["Quick"]
    olive = Requester.objects.get(name="Olive").pk
    assert titles(ada, f"/hits/?requester={olive}") == ["Quick"]
    page = ada.get("/hits/?least=99").content.decode()
    assert "3 kinds of HITs are open to you and left out" in page
    assert len(titles(ada, "/hits/?all=1")) == 3


def test_junk_in_the_form_means_nothing() -> None:
    junk = {"order": "x", "least": "-1", "hourly": "1e9", "minutes": "٣", "requester": "1 or 1"}
    assert choices_from(junk) == Choices()


@pytest.mark.usefixtures("three")
def test_how_a_requester_pays_stands_once_above_all_its_hits(ada: Visitor) -> None:
    page = ada.get("/hits/").content.decode()
    assert page.count('class="group"') == 3
    assert page.count("Rita has not said how and when it pays.") == 1


@pytest.mark.usefixtures("three")
def test_pay_per_hour_comes_from_the_median_time(ada: Visitor) -> None:
    page = ada.get("/hits/").content.decode()
    assert "$6.00 an hour" in page
    assert "$30.00 an hour" in page
    assert page.count("an hour") == 2
    assert "no times yet" in page


def test_times_are_observed(rita: Any, make_hit: Any, later: Any) -> None:
    hit = make_hit(rita, MaxAssignments=3)
    for minutes, name in ((10, "Ada"), (20, "Grace"), (50, "Ida")):
        frame = Visitor(name).accept(hit)
        later(minutes=minutes)
        frame.submit(answer="x")
    make_hit(rita)
    page = Visitor("Edith").get("/hits/").content.decode()
    assert "20 min" in page
    assert "$13.50 an hour" in page


def test_who_pays_how_and_by_when_stands_before_accept(
    rita: Any, ada: Visitor, make_hit: Any, settings: Any
) -> None:
    hit = make_hit(rita, AutoApprovalDelayInSeconds=86400)
    for path in ("/hits/", f"/hits/{hit['HITId']}/"):
        assert "Rita has not said how and when it pays." in ada.get(path).content.decode()
    settings.MARKETPLACE_PAYMENT_TERMS = "The host, by bank transfer."
    assert "Rita pays: The host, by bank transfer." in ada.get("/hits/").content.decode()
    Requester.objects.update(payment_terms="Cash, every Friday.")
    for path in ("/hits/", f"/hits/{hit['HITId']}/"):
        page = ada.get(path).content.decode()
        assert "Rita pays: Cash, every Friday." in page
        assert "Decided within 1 day, else approved." in page


@pytest.mark.parametrize(
    ("keywords", "width"),
    [
        ("writing, min-width:1024", 1024),
        ("MIN-WIDTH = 900px, x", 900),
        ("min-width:12", 0),
        ("admin-width:1024", 0),
        ("", 0),
    ],
)
def test_a_least_width_is_read_from_the_keywords(keywords: str, width: int) -> None:
    assert least_width(HITType(keywords=keywords)) == width


def test_a_least_width_is_said_before_accept(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita, Keywords="writing, min-width:1024")
    for path in ("/hits/", f"/hits/{hit['HITId']}/"):
        assert "at least 1024 pixels wide" in ada.get(path).content.decode()


def test_what_can_never_be_taken_is_not_shown(rita: Any, ada: Visitor, make_hit: Any) -> None:
    need = {"QualificationTypeId": COUNTRY, "Comparator": "EqualTo"}
    make_hit(rita, QualificationRequirements=[need | {"LocaleValues": [{"Country": "US"}]}])
    page = ada.get("/hits/").content.decode()
    assert "Set your country in your preferences." in page
    Worker.objects.update(country="DE")
    page = ada.get("/hits/").content.decode()
    assert "Only for workers in US" not in page
    assert "are for other workers" in page


def test_nothing_left_says_why(rita: Any, ada: Visitor, make_hit: Any) -> None:
    assert "No requester has posted a HIT" in ada.get("/hits/").content.decode()
    ada.submit(make_hit(rita, MaxAssignments=2))
    assert "You have done the one HIT" in ada.get("/hits/").content.decode()


def test_an_earned_qualification_leads_to_its_hit(rita: Any, ada: Visitor, make_hit: Any) -> None:
    made = rita.create_qualification_type(
        Name="Passed “Qualify: write” (x)",
        Description="Granted after reading.",
        Keywords="writing, earned",
        QualificationTypeStatus="Active",
    )["QualificationType"]["QualificationTypeId"]
    need = {"QualificationTypeId": made, "Comparator": "Exists"}
    make_hit(rita, Title="Main", QualificationRequirements=[need])
    assert "no HIT that earns it" not in ada.get("/hits/").content.decode()
    assert "Granted after reading." in ada.get("/hits/").content.decode()
    assert made not in ada.get("/qualifications/").content.decode()
    hidden = need | {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    secret = make_hit(rita, Title="Passed", QualificationRequirements=[hidden])
    assert secret["HITTypeId"] not in ada.get("/qualifications/").content.decode()
    question = QUESTION.replace("unit=7", "unit=8")
    door = make_hit(rita, Title="Qualify: write", Question=question)
    for path in ("/hits/", "/qualifications/"):
        page = ada.get(path).content.decode()
        assert f'href="/kinds/{door["HITTypeId"]}/"' in page
        assert f"/qualifications/{made}/ask/" not in page
    assert "First pass the HIT “Qualify: write”." in ada.get("/hits/").content.decode()
    asked = ada.send(f"/qualifications/{made}/ask/").content.decode()
    assert "earned by doing a HIT" in asked
    ada.submit(door)
    assert "You have handed in the HIT for it." in ada.get("/hits/").content.decode()
    assert "Handed in on" in ada.get("/qualifications/").content.decode()


def test_a_worker_states_their_state_and_can_take_what_asks_for_it(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    place = {"Country": "US", "Subdivision": "CA"}
    need = {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [place]}
    make_hit(rita, QualificationRequirements=[need])
    ada.post("/preferences/", "/preferences/", country="us")
    assert "Set your state or region in your preferences." in ada.get("/hits/").content.decode()
    for wrong in ({"subdivision": "ZZ"}, {"country": "", "subdivision": "CA"}):
        refused = ada.post("/preferences/", "/preferences/", **wrong)
        assert refused.status_code == 400
        assert "like CA for California" in refused.content.decode()
    ada.post("/preferences/", "/preferences/", subdivision="us-ca")
    page = ada.get("/hits/").content.decode()
    assert "Only for workers in US-CA." not in page
    assert "/accept/" in page
    ada.post("/preferences/", "/preferences/", country="de-by")
    assert (ada.worker.country, ada.worker.subdivision) == ("DE", "BY")
    ada.post("/preferences/", "/preferences/", country="AT")
    assert (ada.worker.country, ada.worker.subdivision) == ("AT", "")
