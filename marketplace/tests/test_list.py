"""The list of HITs: order, filters, what is left out, what is in the way and the way in."""

import re
from datetime import timedelta
from typing import Any

import pytest

from marketplace.hits.facts import least_width
from marketplace.models import Assignment, HITType, Requester, Worker
from marketplace.people.requirements import LOCALE
from marketplace.site.hit_views import ListFilters, filters_from
from marketplace.tests.conftest import QUESTION
from marketplace.tests.visitor import Frame, Visitor, simulated

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
    HITType.objects.filter(title="Slow").update(recent_work=by_ten([3000, 3600, 9000]))
    HITType.objects.filter(title="Quick").update(recent_work=by_ten([50, 60, 70]))


def by_ten(seconds: list[int]) -> list[list[int]]:
    """Return these times, each of ten people."""
    return [[person, time] for time in seconds for person in range(10)]


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
    assert filters_from(junk) == ListFilters()


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


def test_times_are_observed_when_ten_people_have_finished(
    rita: Any, make_hit: Any, later: Any
) -> None:
    values = {"Keywords": "reading, expected-minutes:15"}
    hits = [make_hit(rita, MaxAssignments=20, **values) for _ in range(2)]
    visitors = [Visitor(f"Worker {number}") for number in range(10)]
    for visitor in visitors[:9]:
        for hit in hits:
            frame = visitor.accept(hit)
            later(minutes=20)
            frame.submit(answer="x")
    edith = Visitor("Edith")
    for path in ("/hits/", f"/hits/{hits[0]['HITId']}/"):
        page = edith.get(path).content.decode()
        assert "about $18.00 an hour" in page
        assert "the requester&#x27;s estimate" in page or "the requester's estimate" in page
        assert "15 min" in page
        assert "20 min" not in page
    frame = visitors[9].accept(hits[0])
    later(minutes=20)
    frame.submit(answer="x")
    for path in ("/hits/", f"/hits/{hits[0]['HITId']}/"):
        page = edith.get(path).content.decode()
        assert "$13.50 an hour" in page
        assert "estimate" not in page
        assert "20 min" in page
        assert "15 min" not in page


def test_no_time_of_a_simulated_worker_is_observed(rita: Any, make_hit: Any) -> None:
    hit = make_hit(rita, MaxAssignments=12, Keywords="expected-minutes:15")
    for number in range(11):
        simulated(f"Simulated worker {number}").submit(hit)
    page = Visitor("Edith").get("/hits/").content.decode()
    assert "Estimated time" in page
    assert "Usually takes" not in page
    assert HITType.objects.get().recent_work == []


def test_who_asks_has_one_name_wherever_a_worker_reads_it(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    names = "part-of:Rivers%2C lakes, asked-by:Lab for Reading%2C 100 %25"
    made = rita.create_qualification_type(
        Name="Writer", Description="Writes.", Keywords=names, QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    hit = make_hit(rita, Keywords=names)
    rita.associate_qualification_with_worker(
        QualificationTypeId=made, WorkerId=ada.worker.worker_id
    )
    told = ["/qualifications/", "/messages/"]
    before = ["/hits/", f"/hits/{hit['HITId']}/"]
    pages = {path: ada.get(path).content.decode() for path in (*told, *before)}
    frame = ada.accept(hit)
    at_work = [frame.path, "/work/"]
    pages |= {path: ada.get(path).content.decode() for path in at_work}
    frame.submit(answer="x")
    pages |= {path: ada.get(path).content.decode() for path in (f"{frame.path}submitted/",)}
    pages["/history/"] = ada.get("/history/").content.decode()
    write = f"{frame.path}write/"
    pages[write] = ada.get(write).content.decode()
    pages["sent"] = ada.post(write, write, subject="s", text="Thanks.").content.decode()
    without = [path for path, page in pages.items() if "Lab for Reading, 100 %" not in page]
    assert without == []
    # By the account alone the list can be filtered.
    by_account = "[Tt]o Rita|Rita( ·| has|</p>)"
    assert [path for path, page in pages.items() if re.search(by_account, page)] == []
    named = [*before, *at_work, "/history/"]
    assert [path for path in named if "for “Rivers, lakes”" not in pages[path]] == []


def test_pay_beside_the_reward_is_said_wherever_the_reward_is(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    words = "bonus-up-to:1.26, waiting-per-minute:0.15, waiting-minutes:15, expected-minutes:15"
    hit = make_hit(rita, Reward="0.30", Keywords=f"dialog, {words}")
    said = "$0.30 + up to $1.26 in bonuses + $0.15 a minute for waiting, 15 minutes at most"
    for path in ("/hits/", f"/hits/{hit['HITId']}/"):
        page = re.sub(r"<[^>]*>", "", ada.get(path).content.decode())
        assert said in page
        assert "an hour" not in page, "what a part of the pay makes an hour is not the rate"
    frame = ada.accept(hit)
    for path in (frame.path, "/work/"):
        assert said in re.sub(r"<[^>]*>", "", ada.get(path).content.decode())
    frame.submit(answer="x")
    page = ada.get(f"{frame.path}submitted/").content.decode()
    assert "$0.30" in page
    assert "What you earned beside it comes as a bonus" in page


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
    ("stated", "sentence"),
    [
        ("rejected-within-minutes:2880", "Approved after 2 days, unless a rejection was proposed"),
        ("rejected-within-minutes:0", "Nothing is rejected."),
        ("rejected-within-minutes:99999", "Approved after 5 days, unless"),
    ],
)
def test_until_when_work_can_be_rejected_is_said_as_its_requester_says_it(
    rita: Any, ada: Visitor, make_hit: Any, stated: str, sentence: str
) -> None:
    hit = make_hit(rita, Keywords=stated, AutoApprovalDelayInSeconds=5 * 86400)
    for path in ("/hits/", f"/hits/{hit['HITId']}/"):
        page = ada.get(path).content.decode()
        assert sentence in page
        assert "Decided within" not in page


def test_what_was_said_before_of_the_day_of_approval_is_said_after_too(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    stated = "rejected-within-minutes:2880"
    hit = make_hit(rita, Keywords=stated, AutoApprovalDelayInSeconds=5 * 86400)
    frame = Frame(ada.send(f"/hits/{hit['HITId']}/accept/"))
    frame.submit(answer="yes")
    work = Assignment.objects.get()
    assert work.approval_said_at == work.submitted_at + timedelta(days=2)
    said = f'datetime="{work.approval_said_at.isoformat()[:16]}'
    for path in (f"/work/{work.pk}/submitted/", "/history/"):
        page = ada.get(path).content.decode()
        assert "unless a rejection was proposed by then" in page
        assert said in page, path


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
    # Another collection's HIT of the same title earns nothing here.
    make_hit(rita, Title="Qualify: write", Question=question, Keywords="earns:XYZ")
    assert "First pass" not in ada.get("/hits/").content.decode()
    question = QUESTION.replace("unit=7", "unit=9")
    door = make_hit(rita, Title="Qualify: write", Question=question, Keywords=f"earns:{made}")
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


def test_work_for_another_qualification_of_the_same_title_is_not_taken_for_this(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    made, other = (
        rita.create_qualification_type(
            Name=f"Passed “Qualify: write” ({name})",
            Description="Granted after reading.",
            Keywords="earned",
            QualificationTypeStatus="Active",
        )["QualificationType"]["QualificationTypeId"]
        for name in ("one", "two")
    )
    for type_id in (made, other):
        need = {"QualificationTypeId": type_id, "Comparator": "EqualTo", "IntegerValues": [1]}
        make_hit(rita, Title=f"Main {type_id}", QualificationRequirements=[need])
    words = f"part-of:Rivers, earns:{made}"
    ada.submit(make_hit(rita, Title="Qualify: write", Keywords=words))
    make_hit(rita, Title="Qualify: write", Keywords=f"part-of:Kings%2C again, earns:{other}")
    page = ada.get("/hits/").content.decode()
    assert "Rita · for “Kings, again”" in page
    assert page.count("First pass the HIT “Qualify: write”.") == 1
    assert page.count("You have handed in the HIT for it.") == 1
    rita.associate_qualification_with_worker(
        QualificationTypeId=made, WorkerId=ada.worker.worker_id, IntegerValue=0
    )
    assert "You have handed in the HIT for it." not in ada.get("/hits/").content.decode()
    assert "Not passed" in ada.get("/qualifications/").content.decode()


def test_a_requester_s_own_bookkeeping_is_no_qualification_to_show(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    made = rita.create_qualification_type(
        Name="Has done all of it",
        Description="Own bookkeeping.",
        Keywords="unlisted",
        QualificationTypeStatus="Active",
    )["QualificationType"]["QualificationTypeId"]
    need = {
        "QualificationTypeId": made,
        "Comparator": "DoesNotExist",
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    hit = make_hit(rita, Title="Main", QualificationRequirements=[need])
    assert titles(ada) == ["Main"]
    rita.associate_qualification_with_worker(
        QualificationTypeId=made, WorkerId=ada.worker.worker_id, SendNotification=False
    )
    assert titles(ada) == []
    assert "Has done all of it" not in ada.get("/qualifications/").content.decode()
    assert ada.get(f"/hits/{hit['HITId']}/").status_code == 404


@pytest.mark.parametrize(("word", "again"), [("once", False), ("one-at-a-time", True)])
def test_what_the_type_lets_nobody_take_is_not_offered(
    rita: Any, ada: Visitor, make_hit: Any, word: str, again: bool
) -> None:
    questions = [QUESTION.replace("unit=7", f"unit={number}") for number in range(3)]
    hits = [make_hit(rita, Title="Main", Question=one, Keywords=f"x, {word}") for one in questions]
    assert titles(ada) == ["Main"]
    frame = ada.accept(hits[0])
    assert titles(ada) == []
    path = f"/hits/{hits[1]['HITId']}/"
    assert ada.get(path).status_code == 404
    assert "nobody can have two of it" in ada.send(f"{path}accept/").content.decode()
    ada.post(f"{frame.path}return/", f"{frame.path}return/")
    assert titles(ada) == ["Main"], "a returned HIT is in nobody's way"
    page = ada.accept(hits[0]).submit(answer="x")
    assert page.status_code == 200
    assert titles(ada) == (["Main"] if again else [])
    assert titles(Visitor("Edith")) == ["Main"]
