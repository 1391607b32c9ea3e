"""Prepared queries give what their querysets give."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from common.prepared_sql import PreparedQuery, execute, fields_of
from marketplace import clock
from marketplace.models import HIT, Assignment
from marketplace.tests.visitor import Visitor

COLUMNS = [*fields_of(HIT), "hit_type__requirements"]


def test_rows_are_those_of_the_queryset(rita: Any, make_hit: Any) -> None:
    need = {"QualificationTypeId": "00000000000000000060", "Comparator": "Exists"}
    ids = [
        make_hit(rita, Title=f"t{n}", QualificationRequirements=[need])["HITId"] for n in range(3)
    ]
    soon = clock.now() + timedelta(days=2)

    def build(hit_id: str, before: datetime) -> Any:
        return HIT.objects.filter(hit_id=hit_id, expires_at__lt=before).values_list(*COLUMNS)

    prepared = PreparedQuery(build, hit_id=str, before=datetime)
    for one in ids:
        rows = prepared.rows(hit_id=one, before=soon)
        assert rows == list(build(one, soon))
        assert rows[0][-1] == [need]
    assert prepared.first(hit_id=ids[0], before=clock.now()) is None


def test_errors_are_djangos() -> None:
    with pytest.raises(DatabaseError), transaction.atomic(using="marketplace"):
        execute("SELECT nothing FROM nowhere WHERE id = %s", [1], "marketplace")


def test_pages_of_work_stay_right_while_more_comes(rita: Any, make_hit: Any, later: Any) -> None:
    hit = make_hit(rita, MaxAssignments=6)
    visitors = [Visitor(f"W{n}") for n in range(6)]
    seen, token = [], {}
    for visitor in visitors[:3]:
        visitor.submit(hit)
        later(seconds=1)
    while True:
        page = rita.list_assignments_for_hit(HITId=hit["HITId"], MaxResults=2, **token)
        seen += [one["AssignmentId"] for one in page["Assignments"]]
        if not page.get("NextToken"):
            break
        for visitor in visitors[len(seen) + 1 : len(seen) + 2]:
            visitor.submit(hit)
            later(seconds=1)
        token = {"NextToken": page["NextToken"]}
    stored = Assignment.objects.order_by("submitted_at").values_list("assignment_id", flat=True)
    assert seen == list(stored)
