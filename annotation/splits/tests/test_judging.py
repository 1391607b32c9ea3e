"""Cross-validation gives the same for any number of workers, and outlives any that dies."""

import json
from datetime import timedelta
from io import StringIO
from typing import ClassVar

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import jobs
from annotation.checkup import silent_jobs
from annotation.models import (
    CrossValidation,
    Fold,
    HeldOutPrediction,
    SplitAssignment,
)
from annotation.splits import cross_validation, training
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import begin_run, fold_of, sum_up, table_of
from annotation.splits.single_hop_review import decide
from annotation.splits.tests.making import NOW, make_kept
from annotation.splits.training import train, work_on
from collector.models import Collection
from common import long_work
from common.long_work import DIED, MOST_ATTEMPTS, SILENT, LostClaim, WorkState
from common.watched_process import ReaderDied
from readers.light.tests.making import make_examples
from readers.reader import Prediction

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _home_of_its_own(settings, tmp_path):
    # A test beside it that removes what the dead have left takes these folders for that.
    settings.HOME = tmp_path


def command(*words, **options):
    said = StringIO()
    call_command("judge_difficulty", "pilot", *words, stdout=said, **options)
    return said.getvalue()


def begin(collection):
    for worker in ("wada", "wgrace"):
        decide(collection, worker, False, "rita", NOW)
    return begin_run(collection, table_of(collection), "rita", timezone.now())


class QuickReader:
    """Stands in for the process of its own: answers each tenth question right, the rest wrong."""

    died = 0
    readers: ClassVar[list[str]] = []

    def __init__(self, folder):
        self.keys = []

    def start(self, reader, train, asked, rng):
        type(self).readers.append(reader)
        list(train)
        self.keys = [example.key for example in asked]

    def is_over(self, wait_seconds=0.0):
        return True

    def progress(self):
        return "Answering", 1.0

    def predictions(self):
        if type(self).died > 0:
            type(self).died -= 1
            raise ReaderDied("code -9: it was killed")
        gold = {example.key: example.answer for example in make_examples(24)}
        for key in self.keys:
            number = int(key[1:])
            answer = gold[key] if number % 5 == 0 else "Nobody"
            yield Prediction(key, answer, 0.1 * number)

    def stop(self):
        pass


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Try again without a pause."""
    monkeypatch.setattr(long_work, "PAUSES", (timedelta(0),) * 2)


@pytest.fixture
def quick(monkeypatch):
    QuickReader.died = 0
    QuickReader.readers = []
    monkeypatch.setattr(training, "ReaderProcess", QuickReader)
    return QuickReader


def test_folds_are_of_equal_size_and_follow_from_keys_and_seed():
    keys = [f"k{number}" for number in range(31)]
    found = fold_of(keys, 3, 7)
    assert found == fold_of(reversed(keys), 3, 7) != fold_of(keys, 3, 8)
    sizes = [list(found.values()).count(fold) for fold in range(3)]
    assert sorted(sizes) == [10, 10, 11]


class FirstKilled(training.ReaderProcess):
    """Kills the first process that is begun."""

    begun = 0

    def start(self, *given, **named):
        super().start(*given, **named)
        type(self).begun += 1
        if type(self).begun == 1:
            self.process.kill()


@pytest.mark.once
def test_a_real_reader_judges_in_a_process_of_its_own_though_one_is_killed(monkeypatch):
    make_kept(24)
    monkeypatch.setattr(FirstKilled, "begun", 0)
    monkeypatch.setattr(training, "ReaderProcess", FirstKilled)
    said = json.loads(command("--as-multi-hop", "--json"))
    assert said["judged"] == 24
    assert HeldOutPrediction.objects.filter(loss__gte=0).count() == 24
    assert said["right"] == HeldOutPrediction.objects.filter(is_right=True).count()
    assert len(said["checksum"]) == 64
    assert list(Fold.objects.order_by("number").values_list("attempts", flat=True)) == [2, 1, 1]
    assert json.loads(command("--json")) == said, "what is judged is not judged again"
    assert CrossValidation.objects.count() == 1


def test_any_order_of_folds_gives_the_same_split(quick):
    found = []
    for slug, order in (("one", [0, 1, 2]), ("four", [2, 0, 1])):
        collection = make_kept(24, slug=slug)
        run = begin(collection)
        ids = list(run.folds.values_list("pk", flat=True))
        assert [train(ids[place], timezone.now()) for place in order] == [True] * 3
        run.refresh_from_db()
        counts = make_splits(collection, NOW)
        placed = SplitAssignment.objects.filter(question__stage__collection=collection)
        rows = sorted(placed.values_list("question__key", "split", "reason"))
        found.append((run.checksum, run.n_right, counts, rows))
    assert found[0] == found[1]
    assert found[0][1] == found[0][2]["train-medium"] == 5


@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_one_worker_and_four_at_once_give_the_same(quick):
    found = []
    for slug, workers in (("one", 1), ("four", 4)):
        run = begin(make_kept(24, slug=slug))
        work_on(run, workers)
        assert list(run.folds.values_list("state", "attempts")) == [(WorkState.DONE, 1)] * 3
        make_splits(run.collection, NOW)
        placed = SplitAssignment.objects.filter(question__stage__collection=run.collection)
        rows = sorted(placed.values_list("question__key", "split", "reason"))
        found.append((run.state, run.checksum, run.n_right, rows))
    assert found[0] == found[1]


def test_a_killed_fold_is_trained_again_and_the_split_is_the_same(quick):
    collection = make_kept(24)
    run = begin(collection)
    quick.died = 2
    first = run.folds.get(number=0)
    assert not train(first.pk, timezone.now())
    first.refresh_from_db()
    assert (first.state, first.attempts) == (WorkState.WAITING, 1)
    assert "killed" in first.message
    work_on(run)
    assert run.state == WorkState.DONE
    assert sorted(run.folds.values_list("attempts", flat=True)) == [1, 1, 3]


def test_a_fold_whose_worker_died_silently_is_claimed_by_another(quick):
    run = begin(make_kept(24))
    now = timezone.now()
    dead = run.folds.get(number=1)
    late = Fold.take(dead.pk, now)
    assert dead.pk not in Fold.due(now)
    assert not train(dead.pk, now), "its worker may be alive"
    assert dead.pk in Fold.due(now + SILENT)
    assert train(dead.pk, now + SILENT)
    dead.refresh_from_db()
    before = list(dead.predictions.values_list("question", "answer", "loss"))
    reader = QuickReader(None)
    reader.keys = list(dead.predictions.values_list("question__key", flat=True))
    with pytest.raises(LostClaim):
        training.store_predictions(late, reader)
    assert list(dead.predictions.values_list("question", "answer", "loss")) == before


def test_a_fold_that_always_fails_ends_the_run_with_a_reason(quick):
    run = begin(make_kept(24))
    quick.died = MOST_ATTEMPTS
    first = run.folds.get(number=0)
    assert not any(
        train(first.pk, timezone.now() + n * SILENT) for n in range(1, MOST_ATTEMPTS + 2)
    )
    run.refresh_from_db()
    assert run.state == WorkState.FAILED
    assert "Fold 1 was given up: code -9" in run.message
    other = run.folds.get(number=1).pk
    assert not train(other, timezone.now()), "nobody works for a run that is over"
    Collection.objects.update(look_at=None, state="finished")
    assert not jobs.has_due_work()
    run.folds.filter(number=1).update(state=WorkState.RUNNING, free_at=NOW)
    assert silent_jobs() == []
    assert run.is_given_up
    assert run.try_again()
    assert silent_jobs() == [f"fold {run.folds.get(number=1).pk}"]
    work_on(run)
    assert (run.state, run.message) == (WorkState.DONE, "")


def test_a_fold_that_keeps_dying_silently_ends_the_run(quick):
    run = begin(make_kept(24))
    long_ago = timezone.now() - 2 * SILENT
    run.folds.filter(number=0).update(
        state=WorkState.RUNNING, attempts=MOST_ATTEMPTS, free_at=long_ago, claim="x"
    )
    work_on(run)
    assert run.state == WorkState.FAILED
    assert f"Fold 1 was given up: {DIED}" in run.message


def test_one_of_those_who_finish_last_sums_the_run_up(quick):
    run = begin(make_kept(24))
    now = timezone.now()
    assert not sum_up(run.pk, now), "folds are waiting"
    run.folds.update(state=WorkState.DONE)
    run.predictions.update(answer="x", loss=1)
    CrossValidation.objects.filter(pk=run.pk).update(state=WorkState.RUNNING, free_at=now + SILENT)
    assert not sum_up(run.pk, now), "another is at it"
    assert sum_up(run.pk, now + 2 * SILENT), "who died is relieved"
    assert not sum_up(run.pk, now + 4 * SILENT)


def test_jobs_look_for_folds_that_wait(quick, monkeypatch):
    run = begin(make_kept(24))
    sent = []
    monkeypatch.setattr(jobs.do_long_work, "apply_async", lambda what, **how: sent.append(what))
    jobs.look_after_what_is_due()
    for what in sent:
        jobs.do_long_work(*what)
    run.refresh_from_db()
    assert (len(sent), run.state) == (3, WorkState.DONE)


@pytest.fixture
def installed(monkeypatch):
    """Say whether this machine has what trained readers need."""
    return lambda is_so: monkeypatch.setattr(cross_validation, "is_installed", lambda: is_so)


def test_another_reader_is_chosen_by_name_and_recorded_with_the_decision(quick, installed):
    installed(True)
    make_kept(24)
    assert json.loads(command("--as-multi-hop", "--json"))["reader"] == "light"
    judged = json.loads(command("--reader", "neural", "--json"))
    assert judged["reader"] == CrossValidation.objects.first().reader == "neural"
    assert quick.readers[0] == cross_validation.READERS["light"]
    assert quick.readers[-1].endswith(":NeuralReader")
    assert json.loads(command("--json")) == judged, "no reader named: what is judged stays judged"
    assert CrossValidation.objects.count() == 2


def test_a_collection_says_which_reader_is_trained(quick, installed):
    installed(True)
    collection = make_kept(24)
    collection.parameters["difficulty"]["reader"] = "neural"
    collection.save()
    assert begin(collection).reader == "neural"


def test_what_was_collected_before_readers_could_be_chosen_has_the_light_one(quick):
    collection = make_kept(24)
    del collection.parameters["difficulty"]["reader"]
    collection.save()
    assert begin(collection).reader == "light"


def test_an_unknown_reader_is_refused_with_those_there_are(quick):
    make_kept(24)
    with pytest.raises(CommandError, match="no reader tree for pilot: take light or neural"):
        command("--as-multi-hop", "--reader", "tree")
    assert not CrossValidation.objects.exists()


def test_without_torch_one_line_says_what_to_install(quick, installed):
    installed(False)
    collection = make_kept(24)
    with pytest.raises(CommandError, match="make setup-readers") as refused:
        command("--as-multi-hop", "--reader", "neural")
    assert "\n" not in str(refused.value)
    assert not CrossValidation.objects.exists()
    begin_run(collection, table_of(collection), "rita", NOW, "neural")
    with pytest.raises(CommandError, match="make setup-readers"):
        command("--reader", "neural")


def test_a_machine_without_torch_leaves_folds_to_one_that_has_it(quick, installed):
    collection = make_kept(24)
    for worker in ("wada", "wgrace"):
        decide(collection, worker, False, "rita", NOW)
    run = begin_run(collection, table_of(collection), "rita", timezone.now(), "neural")
    first = run.folds.get(number=0)
    installed(False)
    assert not train(first.pk, timezone.now())
    first.refresh_from_db()
    assert (first.state, first.attempts) == (WorkState.WAITING, 0)
    installed(True)
    assert train(first.pk, timezone.now())


def test_no_second_reader_is_trained_while_one_is(quick, installed):
    installed(True)
    run = begin(make_kept(24))
    with pytest.raises(CommandError, match="by the reader light goes on in pilot"):
        command("--reader", "neural")
    run.refresh_from_db()
    assert run.state == WorkState.WAITING


def test_the_process_ends_when_it_is_told_nothing_any_more(tmp_path):
    reader = training.ReaderProcess(tmp_path)
    examples = make_examples(40)
    reader.start("light", examples, examples, "1")
    reader.process.stdin.close()
    assert any(reader.is_over() for _ in range(60))
    with pytest.raises(ReaderDied, match="code 1"):
        list(reader.predictions())
    reader.stop()


def test_undecided_workers_stop_the_judging_and_the_splits(quick):
    collection = make_kept(24)
    with pytest.raises(CommandError, match="2 sampled workers are not decided yet"):
        command()
    with pytest.raises(CommandError, match="2 sampled workers are not decided yet"):
        call_command("make_splits", "pilot")
    decide(collection, "wada", True, "rita", NOW)
    decide(collection, "wgrace", False, "rita", NOW)
    with pytest.raises(CommandError, match="of 8 of 24 questions is not judged: run judge_diff"):
        call_command("make_splits", "pilot")
    command()
    assert make_splits(collection, NOW)["train-easy"] == 16
    easy = SplitAssignment.objects.filter(split="train-easy")
    assert set(easy.values_list("question__worker", flat=True)) == {"wada"}


def test_a_decision_taken_back_is_missed(quick):
    collection = make_kept(24)
    work_on(begin(collection))
    decide(collection, "wgrace", None, "rita", NOW)
    with pytest.raises(CommandError, match="one sampled worker is not decided yet"):
        call_command("make_splits", "pilot")
