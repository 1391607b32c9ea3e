"""The desk's pages of HITs that programs posted, of events, and of the account."""

from typing import Any

import pytest
from django.db import connections

from marketplace import clock
from marketplace.configuration import SystemPolicy, choose, system_policies
from marketplace.models import HIT, AuditEntry, Event, Requester, Worker
from marketplace.notifications.events import deliver_due, events_of, post_event
from marketplace.people.accounts import open_worker
from marketplace.people.requirements import ADULT, LOCALE, N_APPROVED
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.desk_rows import NOTIFICATION
from marketplace.tests.test_events import Listener
from marketplace.tests.visitor import Visitor

PLACES = [{"Country": "US", "Subdivision": "CA"}, {"Country": "GB"}]
HIDDEN = {"ActionsGuarded": "DiscoverPreviewAndAccept"}


@pytest.fixture
def desk(rita: Any, settings: Any) -> DeskVisitor:
    """Rita's person at the desk."""
    settings.MARKETPLACE_OPEN_DESK = False
    return DeskVisitor("Rita", Requester.objects.get(name="Rita"))


def key_of(made: dict[str, Any]) -> int:
    return HIT.objects.get(hit_id=made["HITId"]).pk


def test_a_hit_says_who_can_see_it_and_what_keeps_the_rest_out(
    rita: Any, desk: DeskVisitor, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    kind = rita.create_qualification_type(
        Name="Reader", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    needs = [
        {"QualificationTypeId": kind, "Comparator": "GreaterThan", "IntegerValues": [5]},
        {"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": PLACES, **HIDDEN},
    ]
    rita.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=ada.worker.worker_id, IntegerValue=6
    )
    made = make_hit(rita, QualificationRequirements=needs)
    page = desk.html(f"/desk/hits/{key_of(made)}/")
    assert "0 of 2 workers can see this" in page
    assert "nobody can work on it" in page
    assert "a country in US-CA, GB: 2 do not meet that" in page
    assert "“Reader” with a score above 5: 1 does not meet that" in page
    assert "0 of 2: nobody can take it" in desk.html("/desk/hits/")
    Worker.objects.filter(pk=ada.worker.pk).update(country="GB")
    page = desk.html(f"/desk/hits/{key_of(made)}/")
    assert "1 of 2 workers can see this" in page
    assert "nobody can work on it" not in page
    rita.create_worker_block(WorkerId=ada.worker.worker_id, Reason="r")
    assert "1 is blocked by you" in desk.html(f"/desk/hits/{key_of(made)}/")


def test_system_requirements_and_missing_qualifications_are_named(
    rita: Any, desk: DeskVisitor, ada: Visitor, make_hit: Any
) -> None:
    choose("system_policies", system_policies() | {"n_approved": SystemPolicy.ENFORCE}, clock.now())
    needs = [
        {"QualificationTypeId": N_APPROVED, "Comparator": "GreaterThan", "IntegerValues": [1000]},
        {"QualificationTypeId": ADULT, "Comparator": "EqualTo", "IntegerValues": [1]},
    ]
    page = desk.html(f"/desk/hits/{key_of(make_hit(rita, QualificationRequirements=needs))}/")
    assert "1 of 1 worker can see this</strong>, 0 can take it" in page
    assert "number of HITs approved above 1000: 1 does not" in page
    assert "being an adult: 1 does not" in page


def test_only_what_programs_posted_is_listed_with_its_counters(
    rita: Any, desk: DeskVisitor, ada: Visitor, make_hit: Any
) -> None:
    assert "No HIT from a program yet" in desk.html("/desk/hits/")
    made = make_hit(rita)
    sent = ada.submit(made).query["assignmentId"]
    page = desk.html("/desk/hits/")
    assert made["HITId"] in page
    assert "To review" in page
    assert "(Reviewable to programs)" in desk.html(f"/desk/hits/{key_of(made)}/")
    assert "1 of 1" in page
    rita.approve_assignment(AssignmentId=sent)
    page = desk.html("/desk/hits/")
    assert "To review" not in page
    assert ">Over</span>" in page


def test_a_list_of_many_types_counts_workers_once(
    rita: Any, desk: DeskVisitor, make_hit: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        make_hit(rita, Title=f"Title {number}")
        open_worker(f"Worker {number}", "", clock.now())
    with django_assert_max_num_queries(18, connection=connections["marketplace"]):
        desk.client.get("/desk/hits/")


def test_an_event_is_shown_with_its_fate_and_sent_again(desk: DeskVisitor) -> None:
    rita = Requester.objects.get(name="Rita")
    assert "No event yet" in desk.html("/desk/events/")
    post_event(rita.pk, NOTIFICATION, {"EventType": "Ping", "EventTimestamp": "t"}, clock.now())
    deliver_due(clock.now(), Listener(1))
    page = desk.html("/desk/events/")
    assert "The listener answered 503." in page
    assert "1 try, next" in page
    [event] = events_of(rita)
    path = f"/desk/events/{event.pk}/again/"
    desk.post("/desk/events/", path)
    listener = Listener()
    assert deliver_due(clock.now(), listener).n_delivered == 1
    assert "2 tries, taken" in desk.html("/desk/events/")
    desk.post("/desk/events/", path)
    deliver_due(clock.now(), listener)
    assert listener.told == ["Ping", "Ping"]
    assert Event.objects.get().n_attempts == 3
    assert AuditEntry.objects.filter(what__startswith="Sent the event").count() == 2


def test_terms_of_payment_are_changed_by_the_requester_and_by_the_host(desk: DeskVisitor) -> None:
    rita = Requester.objects.get(name="Rita")
    unsaid = "Workers read that you have not said how and when you pay."
    assert unsaid in desk.html("/desk/projects/")
    desk.post("/desk/account/", "/desk/account/", contact="", payment_terms="Cash on Fridays.")
    assert unsaid not in desk.html("/desk/projects/")
    rita.refresh_from_db()
    assert rita.payment_terms == "Cash on Fridays."
    host, page = DeskVisitor("Ida"), f"/desk/requesters/{rita.pk}/"
    assert "Cash on Fridays." in host.html(page)
    refused = host.post(page, f"{page}account/", contact="", payment_terms="x" * 301)
    assert refused.status_code == 400
    assert "x" * 301 in refused.content.decode()
    host.post(page, f"{page}account/", contact="r@lab.example", payment_terms="")
    rita.refresh_from_db()
    assert (rita.contact, rita.payment_terms) == ("r@lab.example", "")
    told = list(AuditEntry.objects.order_by("pk").values_list("what", flat=True))
    assert "Set “Who pays, how and by when” of Rita to nothing" in told
