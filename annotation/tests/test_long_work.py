"""Long work is claimed by one, counted, renewed, given back, and free where a clock was wrong."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event
from time import monotonic

import pytest
from django.utils import timezone

from annotation.models import ReleaseOrder
from annotation.tests.making import make_collection
from common import long_work
from common.long_work import DIED, MOST_ATTEMPTS, SILENT, LostClaim, WorkState

pytestmark = pytest.mark.django_db


@pytest.fixture
def order() -> ReleaseOrder:
    return ReleaseOrder.objects.create(collection=make_collection(), by="rita")


def do(order: ReleaseOrder, work: Callable[[ReleaseOrder], object]) -> bool:
    done = ReleaseOrder.do(order.pk, timezone.now(), work)
    order.refresh_from_db()
    return done


def test_what_is_done_is_done_once(order: ReleaseOrder) -> None:
    assert do(order, lambda row: row.finish(message="There it is."))
    assert (order.state, order.attempts, order.message) == (WorkState.DONE, 1, "There it is.")
    assert order.ended_at is not None
    assert not do(order, lambda row: pytest.fail("It was done."))
    assert not order.try_again()


@pytest.mark.django_db(transaction=True)
def test_a_claim_is_renewed_however_long_one_step_is(
    order: ReleaseOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait(row: ReleaseOrder) -> None:
        until = monotonic() + 10
        while ReleaseOrder.objects.get().free_at == row.free_at and monotonic() < until:
            Event().wait(0.01)
        row.finish(message=str(ReleaseOrder.objects.get().free_at > row.free_at))

    monkeypatch.setattr(long_work, "RENEW_SECONDS", 0.01)
    do(order, wait)
    assert order.message == "True"
    # A minute after a job was killed the next one goes on.
    assert timedelta(seconds=30) < SILENT <= timedelta(minutes=1)


def test_who_dies_has_made_a_try_and_the_fourth_is_given_up(order: ReleaseOrder) -> None:
    now = timezone.now()
    for attempt in range(MOST_ATTEMPTS):
        taken = ReleaseOrder.take(order.pk, now + attempt * SILENT)
        assert taken is not None
        assert (taken.attempts, bool(taken.claimed_by)) == (attempt + 1, True)
    assert ReleaseOrder.take(order.pk, now + MOST_ATTEMPTS * SILENT) is None
    order.refresh_from_db()
    assert (order.state, order.message) == (WorkState.FAILED, DIED)


def test_who_is_ended_gives_the_work_back_and_no_try_is_lost(order: ReleaseOrder) -> None:
    def end(row: ReleaseOrder) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(order, end)
    order.refresh_from_db()
    assert (order.state, order.attempts) == (WorkState.WAITING, 0)
    assert ReleaseOrder.due(timezone.now()) == [order.pk]


def test_what_is_stopped_stays_so_whatever_its_worker_does(order: ReleaseOrder) -> None:
    def go_on(row: ReleaseOrder) -> None:
        assert row.stop(timezone.now())
        for act in (lambda: row.say("On"), row.finish, row.give_back):
            with pytest.raises(LostClaim):
                act()
        raise RuntimeError

    assert not do(order, go_on)
    assert (order.state, order.message) == (WorkState.STOPPED, "")
    assert not order.stop(timezone.now())


@pytest.mark.parametrize(
    "step", [-timedelta(days=1), timedelta(hours=1), timedelta(days=365)], ids=str
)
def test_a_claim_of_a_wrong_clock_blocks_nobody_for_longer_than_a_claim(
    order: ReleaseOrder, step: timedelta
) -> None:
    now = timezone.now()
    assert ReleaseOrder.take(order.pk, now + step)
    assert ReleaseOrder.due(now) == [order.pk]
    ReleaseOrder.objects.update(free_at=now + 2 * SILENT)
    assert ReleaseOrder.due(now) == []
    assert ReleaseOrder.due(now + 2 * SILENT) == [order.pk]


def test_a_message_outlives_a_clock_that_is_ahead(settings: object) -> None:
    """Whoever takes it up has another clock, and both may be half a minute wrong."""
    assert settings.MESSAGE_SECONDS >= 60  # type: ignore[attr-defined]
    sent = settings.CELERY_BEAT_SCHEDULE.values()  # type: ignore[attr-defined]
    assert {each["options"]["expires"] for each in sent} == {60}
