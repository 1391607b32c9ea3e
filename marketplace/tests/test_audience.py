"""Who can see a HIT: by the host's policies, counted, and never nobody unnoticed."""

import logging
from itertools import product
from typing import Any

import pytest

from marketplace import clock
from marketplace.configuration import DEFAULT_POLICIES, SystemPolicy, choose
from marketplace.hits.access import _counted_at, audience_of
from marketplace.models import HIT, Worker, WorkerProfile
from marketplace.people.requirements import (
    ADULT,
    LOCALE,
    MASTERS,
    N_APPROVED,
    PERCENT_APPROVED,
    access_to,
    record_for,
    records_of,
)
from marketplace.tests.visitor import Visitor


def need(type_id: str, comparator: str, *values: int, **more: Any) -> dict[str, Any]:
    numbers = {"IntegerValues": list(values)} if values else {}
    return {"QualificationTypeId": type_id, "Comparator": comparator, **numbers, **more}


HIDDEN = {"ActionsGuarded": "DiscoverPreviewAndAccept"}


def hit_with(rita: Any, make_hit: Any, *needs: dict[str, Any]) -> HIT:
    made = make_hit(rita, QualificationRequirements=list(needs), Title=str(needs)[:120])
    return HIT.objects.select_related("hit_type").get(hit_id=made["HITId"])


def test_workers_are_counted_with_what_keeps_them_out(
    rita: Any, ada: Visitor, grace: Visitor, mallory: Visitor, make_hit: Any
) -> None:
    Worker.objects.filter(display_name="Ada").update(is_adult=True, country="GB")
    Worker.objects.filter(display_name="Grace").update(is_adult=True, country="US")
    britain = need(LOCALE, "EqualTo", LocaleValues=[{"Country": "GB"}], **HIDDEN)
    adult = need(ADULT, "EqualTo", 1)
    found = audience_of(hit_with(rita, make_hit, adult, britain).hit_type)
    assert (found.n_workers, found.n_can_see, found.n_can_accept) == (3, 1, 1)
    told = [(one.need["QualificationTypeId"], one.n_workers) for one in found.excluded]
    assert told == [(LOCALE, 2), (ADULT, 1)]
    rita.create_worker_block(WorkerId=ada.worker.worker_id, Reason="r")
    blocked = audience_of(hit_with(rita, make_hit, adult, britain).hit_type)
    assert (blocked.n_can_see, blocked.is_nobody) == (0, True)
    Worker.objects.filter(display_name="Mallory").update(is_active=False)
    assert audience_of(hit_with(rita, make_hit).hit_type).n_workers == 2


def test_the_count_is_what_each_worker_meets(
    rita: Any, ada: Visitor, grace: Visitor, mallory: Visitor, make_hit: Any
) -> None:
    Worker.objects.filter(display_name="Ada").update(is_adult=True, country="GB")
    Worker.objects.filter(display_name="Grace").update(country="GB")
    rita.create_worker_block(WorkerId=mallory.worker.worker_id, Reason="r")
    guards = ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
    for adult_guard, place_guard in product(guards, guards):
        hit = hit_with(
            rita,
            make_hit,
            need(ADULT, "EqualTo", 1, ActionsGuarded=adult_guard),
            need(LOCALE, "EqualTo", LocaleValues=[{"Country": "GB"}], ActionsGuarded=place_guard),
        )
        workers = list(Worker.objects.all())
        each = [access_to(hit.hit_type, one) for one in records_of(workers)]
        assert each == [access_to(hit.hit_type, record_for(one, hit.hit_type)) for one in workers]
        found = audience_of(hit.hit_type)
        assert found.n_can_see == sum(one.can_discover for one in each)
        assert found.n_can_accept == sum(one.can_accept for one in each)


def test_it_costs_the_same_for_one_worker_and_for_many(
    rita: Any, make_hit: Any, django_assert_max_num_queries: Any
) -> None:
    from django.db import connections

    for n in range(20):
        Worker.objects.create(display_name=f"W{n}", created_at=clock.now())
    hit = hit_with(rita, make_hit, need(N_APPROVED, "GreaterThan", 10))
    with django_assert_max_num_queries(6, connection=connections["marketplace"]):
        assert audience_of(hit.hit_type).n_can_accept == 20


@pytest.mark.parametrize(
    ("policy", "asked", "expected"),
    [
        (SystemPolicy.UNTIL_HISTORY, need(N_APPROVED, "GreaterThan", 1000), True),
        (SystemPolicy.ENFORCE, need(N_APPROVED, "GreaterThan", 1000), False),
        (SystemPolicy.IMPORTED, need(N_APPROVED, "GreaterThan", 1000), True),
        (SystemPolicy.IMPORTED, need(N_APPROVED, "GreaterThan", 5000), False),
        (SystemPolicy.IMPORTED, need(PERCENT_APPROVED, "GreaterThanOrEqualTo", 80), True),
        (SystemPolicy.IMPORTED, need(PERCENT_APPROVED, "GreaterThanOrEqualTo", 81), False),
        (SystemPolicy.ENFORCE, need(PERCENT_APPROVED, "GreaterThanOrEqualTo", 95), True),
        (SystemPolicy.ENFORCE, need(MASTERS[0], "Exists"), False),
        (SystemPolicy.UNTIL_HISTORY, need(MASTERS[0], "Exists"), True),
        (SystemPolicy.UNTIL_HISTORY, need(ADULT, "EqualTo", 1), True),
        (SystemPolicy.ENFORCE, need(ADULT, "EqualTo", 1), False),
    ],
)
def test_the_host_chooses_how_a_system_requirement_counts(
    rita: Any,
    ada: Visitor,
    make_hit: Any,
    policy: SystemPolicy,
    asked: dict[str, Any],
    expected: bool,
) -> None:
    choose("system_policies", dict.fromkeys(DEFAULT_POLICIES, policy), clock.now())
    WorkerProfile.objects.update_or_create(
        worker=ada.worker,
        defaults={"n_approved_before": 4000, "percent_approved_before": 80},
    )
    assert audience_of(hit_with(rita, make_hit, asked).hit_type).n_can_accept == int(expected)


def test_publishing_to_nobody_is_a_warning(
    rita: Any, make_hit: Any, caplog: pytest.LogCaptureFixture
) -> None:
    _counted_at.clear()
    with caplog.at_level(logging.WARNING, "marketplace.hits.access"):
        hit_with(rita, make_hit, need(ADULT, "EqualTo", 1))
        assert not caplog.records
        Worker.objects.create(display_name="W", created_at=clock.now())
        _counted_at.clear()
        hit_with(rita, make_hit, need(ADULT, "EqualTo", 1))
        hit_with(rita, make_hit, need(ADULT, "EqualTo", 1))
    [record] = caplog.records
    assert "none of 1 workers" in record.getMessage()
