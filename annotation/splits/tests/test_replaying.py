"""The private log carries what the splits followed, so that a replay places alike."""

import pytest
from django.utils import timezone

from annotation.models import CrossValidation, HopDecision, SplitAssignment
from annotation.release.facts import dates_of
from annotation.release.log import FilesLine
from annotation.release.write_log import log_lines
from annotation.replay.read_log import read_log
from annotation.replay.remake_release import judge_again
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import run_of_answers, table_of, to_judge
from annotation.splits.single_hop_review import decide
from annotation.splits.tests.making import NOW, make_kept
from readers.reader import Prediction

pytestmark = pytest.mark.django_db


def test_decisions_and_answers_of_a_log_give_the_same_splits(tmp_path):
    collection = make_kept(24)
    decide(collection, "wada", False, "rita", NOW)
    decide(collection, "wgrace", True, "rita", NOW)
    table = table_of(collection)
    rows = to_judge(collection, table)
    answers = {key: Prediction(key, "yes", 0.5 + place) for place, (_, key) in enumerate(rows)}
    run_of_answers(collection, table, rows, answers, "light", "rita", timezone.now())
    make_splits(collection, NOW)
    placed = sorted(SplitAssignment.objects.values_list("question__key", "split", "reason"))
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        b"".join([*log_lines(collection, dates_of(collection, NOW)), FilesLine(files={}).as_line()])
    )
    HopDecision.objects.all().delete()
    CrossValidation.objects.all().delete()
    judge_again(collection, read_log(path), NOW)
    make_splits(collection, NOW)
    assert sorted(SplitAssignment.objects.values_list("question__key", "split", "reason")) == placed
