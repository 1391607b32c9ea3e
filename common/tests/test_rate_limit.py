"""A bucket lets so many through at once, and then as many as come back."""

from datetime import datetime, timedelta

import pytest
from django.test import RequestFactory
from django.utils import timezone

from collector.models import SignInTries
from common.rate_limit import Limit, MemoryBucket, client_address

FIVE = Limit(at_once=5, seconds=60)


def n_taken(now: datetime, *who: str) -> int:
    """Return how many of seven tries there are tokens for."""
    return sum(SignInTries.take(FIVE, now, *who) for _ in range(7))


@pytest.mark.django_db
def test_a_row_lets_so_many_through_and_then_one_after_the_other() -> None:
    now = timezone.now()
    assert n_taken(now, "Ada") == 5
    assert n_taken(now + timedelta(seconds=59), "Ada") == 0
    assert n_taken(now + timedelta(seconds=125), "Ada") == 2
    assert n_taken(now + timedelta(days=3), "Ada") == 5


@pytest.mark.django_db
def test_what_was_taken_for_nothing_is_given_back() -> None:
    now = timezone.now()
    for _ in range(20):
        assert SignInTries.take(FIVE, now, "Ada", "192.0.2.1")
        SignInTries.give_back(FIVE, "Ada", "192.0.2.1")
    assert n_taken(now, "Ada", "192.0.2.1") == 5


@pytest.mark.django_db
def test_nobody_s_name_is_another_one_s_key() -> None:
    now = timezone.now()
    assert n_taken(now, "Ada\n192.0.2.1") == 5
    assert n_taken(now, "Ada", "192.0.2.1") == 5
    assert n_taken(now, "", "192.0.2.1") == 5
    assert "Ada" not in "".join(SignInTries.objects.values_list("key", flat=True))


@pytest.mark.django_db
def test_buckets_that_are_long_full_are_not_kept() -> None:
    now = timezone.now()
    n_taken(now, "Ada")
    n_taken(now + timedelta(days=2), "Grace")
    assert SignInTries.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "ahead", [timedelta(hours=1), timedelta(days=365), timedelta(days=-1), timedelta(days=-365)]
)
def test_a_clock_that_was_wrong_keeps_nobody_out_for_longer_than_an_empty_bucket(
    ahead: timedelta,
) -> None:
    now = timezone.now()
    n_taken(now + ahead, "Ada")
    n_taken(now, "Ada")
    assert n_taken(now + timedelta(minutes=2), "Ada") == 2
    assert n_taken(now + timedelta(minutes=7), "Ada") == 5


def test_memory_keeps_the_same_limit() -> None:
    bucket = MemoryBucket()
    assert [bucket.take(FIVE, 100.0) for _ in range(7)] == [0.0] * 5 + [60.0] * 2
    assert [bucket.take(FIVE, 225.0) for _ in range(3)] == [0.0, 0.0, 55.0]


def test_a_rate_below_one_a_burst_lets_one_through() -> None:
    bucket, rare = MemoryBucket(), Limit(at_once=1, seconds=100)
    assert [bucket.take(rare, at) for at in (0.0, 1.0, 100.0)] == [0.0, 99.0, 0.0]


def test_an_address_is_the_front_server_s_last_word_and_nobody_else_s() -> None:
    request = RequestFactory().get(
        "/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR="192.0.2.9, 198.51.100.1"
    )
    assert client_address(request, "") == "10.0.0.1"
    assert client_address(request, "X-Forwarded-For") == "198.51.100.1"
    assert client_address(request, "X-Real-IP") == "10.0.0.1"
