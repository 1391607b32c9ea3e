"""Tests of the list of work and its pay, of the money page, and of what they tell elsewhere."""

import pytest
from django.test import Client

from annotation.dashboard.tests.making import (
    make_confirmed,
    make_empty_submission,
    make_submission,
    plain,
)
from annotation.dashboard.tests.test_assignment_pages import LIST, decide
from annotation.dashboard.tests.test_collections import queries
from collector.models import Collection
from tasks.models import (
    GivenName,
    Payment,
    PaymentKind,
    PaymentState,
    ReceiptState,
    Rejection,
    Submission,
)
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
MONEY = "/collections/pilot/money/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection that pays two days after the marketplace has confirmed."""
    return make_collection(slug="pilot", pay__approve_after_hours=48.0)


def test_an_empty_list_says_when_work_is_paid(rita: Client, pilot: Collection) -> None:
    assert "paid by itself 48 hours after" in rita.get(LIST).content.decode()
    make_collection(pilot.corpus, slug="at-once")
    page = rita.get("/collections/at-once/money/work/").content.decode()
    assert "as soon as the marketplace confirms it" in page


def test_the_list_opens_where_somebody_waits(rita: Client, pilot: Collection) -> None:
    make_confirmed(pilot)
    assert "Waiting to be paid <span>1</span>" in rita.get(LIST).content.decode()
    make_empty_submission(pilot)
    page = rita.get(LIST).content.decode()
    assert "Submitted empty" in page
    assert "Someone outside" in page
    assert "AMALLORY" not in page
    assert "Nothing stands here now" in rita.get(f"{LIST}?show=rejected").content.decode()


def test_what_came_without_work_is_paid_from_the_money_page(
    rita: Client, pilot: Collection
) -> None:
    work = make_empty_submission(pilot)
    page = rita.get(MONEY).content.decode()
    assert "1 HIT was submitted empty: pay it or look into it" in plain(page)
    assert "Pay $4.00" in page
    assert "It is paid." in decide(rita, work, "pay")
    assert Payment.objects.get().reason == "Submitted empty; approved by owner."
    assert "It is decided already" in decide(rita, work, "pay")
    assert "Pay $4.00" not in rita.get(MONEY).content.decode()
    assert "HIT was submitted empty" not in plain(rita.get("/collections/pilot/").content.decode())


def test_the_list_of_collections_names_every_decision(rita: Client, pilot: Collection) -> None:
    make_empty_submission(pilot)
    make_confirmed(pilot, state=ReceiptState.REFUSED)
    decide(rita, make_confirmed(pilot), "propose", "Copied.")
    page = rita.get("/collections/").content.decode()
    for sentence in ("1 HIT submitted empty", "1 payment refused", "1 rejection to confirm"):
        assert sentence in page
    assert '3<span class="unseen"> waiting' in rita.get(MONEY).content.decode()


def test_its_queries_do_not_follow_the_work(rita: Client, pilot: Collection) -> None:
    make_confirmed(pilot)
    make_empty_submission(pilot)
    decide(rita, make_confirmed(pilot), "propose", "Copied.")
    pages = [f"{LIST}?show=waiting", f"{LIST}?show=submitted_empty", f"{LIST}?show=proposed", MONEY]
    few = [queries(lambda page=page: rita.get(page)) for page in pages]  # type: ignore[misc]
    for _ in range(3):
        make_confirmed(pilot)
        make_empty_submission(pilot)
        decide(rita, make_confirmed(pilot), "propose", "Copied.")
    rita.get(MONEY)
    many = [queries(lambda page=page: rita.get(page)) for page in pages]  # type: ignore[misc]
    assert many == few


def test_a_withheld_reward_is_in_no_sum(rita: Client, pilot: Collection) -> None:
    make_confirmed(pilot)
    Payment.objects.filter(kind=PaymentKind.REWARD).update(state=PaymentState.WITHHELD)
    Collection.objects.update(spent_cents=0)
    assert "Nobody has earned anything yet" in rita.get(MONEY).content.decode()


def test_every_step_people_take_is_among_the_last_events(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot)
    decide(rita, work, "propose", "Copied.")
    decide(rita, work, "withdraw", "I misread it.")
    page = rita.get("/collections/pilot/").content.decode()
    assert "owner proposed to reject work of Worker 1." in page
    assert "owner withdrew the rejection of work of Worker 1." in page


def test_time_to_read_work_is_given_while_the_collection_runs(
    rita: Client, pilot: Collection
) -> None:
    make_collection(pilot.corpus, slug="at-once")
    page = rita.get("/collections/at-once/money/work/").content.decode()
    assert "/collections/at-once/change/" in page
    page = rita.get("/collections/at-once/change/").content.decode()
    assert "Hours before work is paid" in page


def test_paid_work_can_still_be_read(rita: Client, pilot: Collection) -> None:
    work = make_confirmed(pilot, state=ReceiptState.APPROVED)
    page = rita.get(LIST).content.decode()
    assert "Paid <span>1</span>" in page
    assert f"{LIST}{work.session.pk}/" in page


def several(rita: Client, works: list[object], decision: str, query: str = "") -> str:
    """Return the list after a button below it was pressed."""
    keys = [work.session.pk for work in works]  # type: ignore[attr-defined]
    form = {"work": keys, "decision": decision}
    return str(rita.post(f"{LIST}decide/?{query}", form, follow=True).content.decode())


def test_work_is_paid_before_its_hours_are_over_alone_or_several_at_once(
    rita: Client, pilot: Collection
) -> None:
    first, second, third, proposed = (make_confirmed(pilot) for _ in range(4))
    assert "Pay $4.00 now" in rita.get(f"{LIST}{first.session.pk}/").content.decode()
    assert "It is paid." in decide(rita, first, "pay")
    assert "It is decided already" in decide(rita, first, "pay")
    decide(rita, proposed, "propose", "Copied.")
    page = several(rita, [first, second, third, proposed], "pay", "show=waiting")
    assert "Done for 2. The marketplace is told within a minute." in page
    assert "Not done for 2. It is decided already" in page
    states = Submission.objects.order_by("pk").values_list("state", flat=True)
    assert [*states] == ["approving", "approving", "approving", "disputed"]


def test_several_are_paid_that_came_empty_and_asked_for_that_were_refused(
    rita: Client, pilot: Collection
) -> None:
    empty = [make_empty_submission(pilot), make_empty_submission(pilot)]
    assert "Pay what is ticked" in rita.get(f"{LIST}?show=submitted_empty").content.decode()
    assert "Done for 2." in several(rita, [*empty], "pay")
    refused = make_confirmed(pilot, state=ReceiptState.REFUSED)
    assert "Ask again for what is ticked" in rita.get(f"{LIST}?show=refused").content.decode()
    assert "Done for 1." in several(rita, [refused], "try_again")


def test_nothing_is_rejected_in_bulk_nor_of_another_collection(
    rita: Client, pilot: Collection
) -> None:
    other = make_confirmed(make_collection(pilot.corpus, slug="other"))
    for works, decision in (([make_confirmed(pilot)], "propose"), ([other], "pay"), ([], "pay")):
        assert "Tick something in the list" in several(rita, [*works], decision)
    assert (
        "Tick something"
        in rita.post(
            f"{LIST}decide/", {"work": ["²", "9" * 30], "decision": "pay"}, follow=True
        ).content.decode()
    )
    assert not Rejection.objects.exists()
    assert not Submission.objects.exclude(state=ReceiptState.CONFIRMED).exists()


def test_the_list_is_filtered_sorted_and_taken_away(rita: Client, pilot: Collection) -> None:
    slow, quick = make_confirmed(pilot), make_confirmed(pilot, active_seconds=90)
    answer = make_submission(stage_of(pilot, "answer"), reward=300)
    Submission.objects.filter(pk=answer.pk).update(state=ReceiptState.CONFIRMED)
    GivenName.objects.create(worker=quick.lease.worker, name="Grace")
    for query, expected in {
        "": [slow, quick, answer],
        "sort=newest": [answer, quick, slow],
        "sort=time": [quick, slow, answer],
        "stage=answer": [answer],
        "q=grace": [quick],
        "q=worker+1": [slow],
    }.items():
        page = rita.get(f"{LIST}?show=waiting&{query}").content.decode()
        places = [page.find(f'href="{LIST}{work.session.pk}/"') for work in expected]
        assert sorted(places) == places, query
        assert page.count(">Read<") == len(expected), query
        assert f"Waiting to be paid <span>{len(expected)}</span>" in page
    reply = rita.get(f"{LIST}?show=waiting&q=grace&as=csv")
    assert reply["Content-Disposition"] == 'attachment; filename="pilot-waiting.csv"'
    _, line = reply.content.decode().splitlines()
    number, called, stage, reward, _, minutes, state, simulated = line.split(",")
    assert (number, called, stage) == ("2", "Grace (Worker 2)", "question")
    assert (reward, minutes, state, simulated) == ("4.00", "1.5", "confirmed", "no")


def test_a_worker_is_found_by_the_whole_number(rita: Client, pilot: Collection) -> None:
    work = [make_confirmed(pilot) for _ in range(11)]
    for sought, found in {"1": [0], "worker 1": [0], "11": [10], "er": [*range(11)]}.items():
        page = rita.get(LIST, {"show": "waiting", "q": sought}).content.decode()
        shown = [n for n, one in enumerate(work) if f'href="{LIST}{one.session.pk}/"' in page]
        assert shown == found, sought


def test_what_a_simulated_worker_handed_in_is_marked_and_took_no_time_of_a_person(
    rita: Client, pilot: Collection
) -> None:
    make_confirmed(pilot, active_seconds=90)
    assert "1.5 min" in rita.get(f"{LIST}?show=waiting").content.decode()
    Submission.objects.update(synthetic=True)
    page = rita.get(f"{LIST}?show=waiting&sort=time").content.decode()
    assert (" min<" in page, '<span class="state">Simulated</span>' in page) == (False, True)
    _, line = rita.get(f"{LIST}?show=waiting&as=csv").content.decode().splitlines()
    assert line.split(",")[-3:] == ["", "confirmed", "yes"]
    page = rita.get(f"{LIST}?show=waiting&q=nobody").content.decode()
    assert "Show the work of everybody" in page
