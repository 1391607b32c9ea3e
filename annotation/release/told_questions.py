"""Stores what a release that withholds answers tells of each question, before it can be read."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from annotation.models import SplitAssignment, ToldQuestion
from annotation.protocols.contracts import EXPORT
from annotation.records.withholding import Told
from annotation.splits.kept_questions import told_splits
from collector.models import Collection
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from tasks.models import Question

AT_ONCE = 500


def store_told(collection: Collection, told: Iterable[Told], now: datetime) -> None:
    """Store what the release tells; its questions are in the splits that it tells from then on.

    Raises ActionError where another release tells an answer that this one withholds, or withholds
    one that this one tells: both were being made at once.
    """
    tells = {(one.stage, one.key): one for one in told}
    withheld = get_protocol(collection.protocol).part(EXPORT).WITHHELD
    with transaction.atomic():
        # Splits are made, and other releases are issued, before or after this and not meanwhile.
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        before = told_splits(collection)
        rows = Question.objects.filter(stage__collection=collection)
        columns = ("pk", "stage__name", "key", "split_assignment__split")
        rows_told, placed, open_now = [], [], []
        for pk, stage, key, split in rows.values_list(*columns).iterator():
            one = tells.get((stage, key))
            if one is None:
                continue
            if pk in before and (before[pk] in withheld) != (one.split in withheld):
                raise ActionError(
                    "Another release has some questions in other splits: run make_splits "
                    f"{collection.slug} and release again.",
                    on_page="Another release was made meanwhile, which has some questions in "
                    "other splits. Release again.",
                )
            if before.get(pk) in (None, ""):
                rows_told.append(ToldQuestion(question_id=pk, split=one.split))
            if one.split not in ("", split):
                placed.append(
                    SplitAssignment(
                        question_id=pk, split=one.split, reason=one.reason, placed_at=now
                    )
                )
            if not one.split and split in withheld:
                open_now.append(pk)
        # Placed while its votes were told: it has its place the next time.
        for start in range(0, len(open_now), AT_ONCE):
            some = open_now[start : start + AT_ONCE]
            SplitAssignment.objects.filter(question_id__in=some).delete()
        ToldQuestion.objects.bulk_create(rows_told, AT_ONCE, **_replacing("split"))
        SplitAssignment.objects.bulk_create(
            placed, AT_ONCE, **_replacing("split", "reason", "placed_at")
        )


def _replacing(*columns: str) -> dict[str, Any]:
    return {"update_conflicts": True, "unique_fields": ["question"], "update_fields": columns}
