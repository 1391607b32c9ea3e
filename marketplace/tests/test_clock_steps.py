"""A clock that was ahead keeps nothing for longer than its own length, and pays nothing early."""

import time
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from common.wrong_clocks import Clock
from marketplace import clock
from marketplace.hits import lifecycle
from marketplace.hits.acceptance import accept, raise_contest
from marketplace.models import HIT, Assignment, AssignmentState, Event, QualificationType, Requester
from marketplace.notifications.events import LONGEST_PAUSE, deliver_due
from marketplace.notifications.messages import MOST_A_DAY, MessageError, send_message
from marketplace.people.grants import NotTakenError, begin, hand_in
from marketplace.tests.test_events import Listener, notification
from marketplace.tests.test_qualification_tests import GOOD, kind
from marketplace.tests.visitor import Visitor

DAY = timedelta(days=1)
AHEAD = [timedelta(hours=1), 365 * DAY]


@pytest.fixture
def wrongly() -> Callable[..., Any]:
    """A function that does something while the clock is ahead by a step, and sets it right."""

    def do(step: timedelta, act: Callable[[], Any]) -> Any:
        clock.advance(step)
        try:
            return act()
        finally:
            clock.advance(-step)

    return do


@pytest.fixture(autouse=True)
def _unmended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "_mended", float("-inf"))


@pytest.mark.parametrize("step", AHEAD)
def test_a_hit_is_held_for_no_longer_than_its_time(
    rita: Any, ada: Visitor, make_hit: Any, later: Any, wrongly: Any, step: timedelta
) -> None:
    hit = make_hit(rita, LifetimeInSeconds=31_536_000)
    HIT.objects.update(expires_at=clock.now() + 2 * 365 * DAY)
    wrongly(step, lambda: accept(ada.worker, hit["HITId"], clock.now()))
    # Any call of the requester looks at all times now and then.
    rita.get_account_balance()
    assert Assignment.objects.get().state == AssignmentState.ACCEPTED
    later(seconds=3590)
    rita.get_account_balance()
    assert Assignment.objects.get().state == AssignmentState.ACCEPTED
    later(seconds=20)
    rita.get_account_balance()
    assert Assignment.objects.get().state == AssignmentState.ABANDONED


@pytest.mark.parametrize("step", AHEAD)
def test_work_is_approved_in_its_time_neither_earlier_nor_later(
    rita: Any, ada: Visitor, make_hit: Any, later: Any, wrongly: Any, step: timedelta
) -> None:
    hit = make_hit(rita, AutoApprovalDelayInSeconds=86_400)
    frame = ada.accept(hit)
    Assignment.objects.update(deadline=clock.now() + 2 * 365 * DAY)
    HIT.objects.update(expires_at=clock.now() + 2 * 365 * DAY)
    wrongly(step, lambda: frame.submit(answer="42"))
    for hours, state in ((0, "submitted"), (23, "submitted"), (2, "approved")):
        later(hours=hours)
        rita.get_account_balance()
        assert Assignment.objects.get().state == state


@pytest.mark.parametrize("step", AHEAD)
def test_a_contest_is_due_in_its_days(
    rita: Any, ada: Visitor, make_hit: Any, later: Any, wrongly: Any, step: timedelta
) -> None:
    ada.submit(make_hit(rita, AutoApprovalDelayInSeconds=2_592_000))
    work = Assignment.objects.get()
    rita.reject_assignment(AssignmentId=work.assignment_id, RequesterFeedback="No.")
    work.refresh_from_db()
    wrongly(min(step, 20 * DAY), lambda: raise_contest(work, "It is right.", clock.now()))
    rita.get_account_balance()
    for days, state in ((6, "rejected"), (2, "approved")):
        later(days=days)
        rita.get_account_balance()
        assert Assignment.objects.get().state == state


@pytest.mark.parametrize("step", AHEAD)
def test_an_event_that_failed_meanwhile_is_tried_again_soon(
    rita: Any, later: Any, wrongly: Any, step: timedelta
) -> None:
    rita.send_test_event_notification(Notification=notification(), TestEventType="HITExpired")
    listener = Listener(n_refusals=1)
    assert wrongly(step, lambda: deliver_due(clock.now(), listener)).n_failed == 1
    later(seconds=LONGEST_PAUSE.total_seconds() + 60)
    assert deliver_due(clock.now(), listener).n_delivered == 1
    assert Event.objects.get().delivered_at


@pytest.mark.parametrize("step", AHEAD)
def test_a_test_can_be_taken_again_after_its_own_time(
    rita: Any, ada: Visitor, later: Any, wrongly: Any, step: timedelta
) -> None:
    row: QualificationType = kind(rita, RetryDelayInSeconds=3600)

    def take() -> None:
        hand_in(begin(ada.worker, row, clock.now()), GOOD, clock.now())

    wrongly(step, take)
    with pytest.raises(NotTakenError, match="again in"):
        take()
    later(seconds=3601)
    take()


@pytest.mark.parametrize("step", AHEAD)
def test_who_wrote_many_messages_meanwhile_may_write_again(
    rita: Any, ada: Visitor, wrongly: Any, step: timedelta
) -> None:
    requester = Requester.objects.get()

    def write(number: int) -> None:
        send_message(ada.worker, requester, "A HIT", "Hello.", clock.now(), f"form {number}")

    wrongly(step, lambda: [write(number) for number in range(MOST_A_DAY)])
    for number in range(MOST_A_DAY):
        write(MOST_A_DAY + number)
    with pytest.raises(MessageError, match="within a day"):
        write(2 * MOST_A_DAY)


@pytest.mark.parametrize("step", AHEAD)
def test_while_a_clock_that_has_jumped_may_jump_back_nothing_is_abandoned_or_approved(
    rita: Any,
    ada: Visitor,
    grace: Visitor,
    make_hit: Any,
    monkeypatch: pytest.MonkeyPatch,
    step: timedelta,
) -> None:
    hit = make_hit(rita, MaxAssignments=2, AutoApprovalDelayInSeconds=60)
    ada.submit(hit)
    grace.accept(hit)
    monkeypatch.setattr(lifecycle, "CLOCK", Clock())
    real, seconds = time.time, step.total_seconds() + 1
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    clock.advance(timedelta(seconds=seconds))
    assert rita.list_hits()["NumResults"] == 1
    listed = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert [one["AssignmentStatus"] for one in listed] == ["Submitted"]
    states = Assignment.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["submitted", "accepted"]
    # It was right, after all.
    steady = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: steady() + 601)
    monkeypatch.setattr(time, "time", lambda: real() + seconds + 601)
    rita.get_account_balance()
    assert list(states.all()) == ["approved", "abandoned"]


def test_a_clock_that_is_set_back_for_minutes_shortens_nothing(
    rita: Any, ada: Visitor, make_hit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.accept(make_hit(rita))
    deadline = Assignment.objects.get().deadline
    monkeypatch.setattr(lifecycle, "CLOCK", Clock())
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - DAY.total_seconds())
    clock.advance(-DAY)
    rita.get_account_balance()
    assert Assignment.objects.get().deadline == deadline


def test_a_clock_that_jumps_amid_settling_ends_it(
    rita: Any, ada: Visitor, make_hit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.accept(make_hit(rita))
    Assignment.objects.update(deadline=clock.now())
    HIT.objects.update(next_due_at=clock.now())
    answers = iter([False, True, True])
    monkeypatch.setattr(lifecycle, "CLOCK", SimpleNamespace(has_jumped=lambda: next(answers)))
    lifecycle.settle_due(clock.now())
    assert Assignment.objects.get().state == AssignmentState.ACCEPTED
