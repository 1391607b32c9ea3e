"""Training: what a recipe says is what is done, and a run that was killed goes on as it was."""

import json
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.tests.adding import Adder, Killed, sums, weights
from readers.trained import ReaderError
from readers.trainer import checkpoint
from readers.trainer.recipe import Training
from readers.trainer.trainer import STEPS, Trainer, load_fitted

torch.set_num_threads(1)
PLAIN = {"epochs": 3, "batch": 4, "optimizer": "adam", "learning_rate": 0.01}


def trainer(folder, *, items=22, dev=6, seed="1", adder=None, **values):
    """Return a trainer of a new adder; the same each time."""
    torch.manual_seed(5)
    learner = adder or Adder()
    return Trainer(
        learner, sums(items), sums(dev, 1), Training(**{**PLAIN, **values}), folder, seed
    )


def steps(folder):
    """Return the lines of the log without the time, which differs."""
    lines = [json.loads(line) for line in (folder / STEPS).read_text().splitlines()]
    return [{key: each for key, each in line.items() if key != "seconds"} for line in lines]


def rates(folder):
    return [line["learning_rate"] for line in steps(folder)]


class Death:
    """Kills at the n-th of all that a run does: a batch, answers, bytes written, a new name."""

    def __init__(self, at):
        self.left = at

    def __call__(self, function):
        def mortal(*args, **named):
            if self.left == 0:
                raise Killed
            self.left -= 1
            return function(*args, **named)

        return mortal


KINDS = (
    {"optimizer": "adam", "clip": 1.0, "accumulate": 2, "checkpoint_steps": 2},
    {"optimizer": "sgd", "momentum": 0.9, "schedule": "plateau", "dev_steps": 2, "alike": 2},
    {"optimizer": "adadelta", "schedule": "linear", "warmup_steps": 3, "checkpoint_steps": 1},
    {"optimizer": "adamw", "weight_decay": 0.1, "stop_after": 2, "dev_steps": 3},
)


@settings(deadline=None, max_examples=16, derandomize=True)
@given(st.integers(0, 60), st.integers(0, 25), st.sampled_from(KINDS))
def test_killed_anywhere_it_ends_with_the_weights_of_a_run_nobody_disturbed(first, second, kind):
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        undisturbed = trainer(Path(one), **kind)
        fitted = undisturbed.fit()
        for at in (first, second):
            killed_in(Path(other), at, kind)
        again = trainer(Path(other), **kind)
        then = again.fit()
        assert weights(again.learner.model) == weights(undisturbed.learner.model)
        assert steps(Path(other)) == steps(Path(one))
        told = {**vars(then), "seconds": 0}
        # A file of torch's is the same byte for byte, too.
        assert told == {**vars(fitted), "seconds": 0}


def killed_in(folder, at, kind):
    """Train until the n-th of all that is done, or to the end where that comes first."""
    death = Death(at)
    run = trainer(folder, **kind)
    run.learner.loss = death(run.learner.loss)
    run.learner.answers = death(run.learner.answers)
    with (
        mock.patch.object(checkpoint.torch, "save", death(torch.save)),
        mock.patch.object(checkpoint.os, "fsync", death(lambda number: None)),
        mock.patch.object(checkpoint.Path, "replace", death(Path.replace)),
    ):
        try:
            run.fit()
        except Killed:
            assert not (folder / "fitted.json").exists() or death.left == 0


def test_the_same_seed_gives_the_same_weights_and_another_others(tmp_path):
    runs = [trainer(tmp_path / name, seed=seed) for name, seed in (("a", "1"), ("b", "1"))]
    other = trainer(tmp_path / "c", seed="2")
    for run in (*runs, other):
        run.fit()
    first, second = (weights(run.learner.model) for run in runs)
    assert first == second
    assert first != weights(other.learner.model)


def test_each_epoch_has_every_item_once_in_an_order_of_its_own(tmp_path):
    run = trainer(tmp_path, items=10, epochs=2, batch=3)
    run.fit()
    sizes = [len(batch) for batch in run.learner.batches]
    assert sizes == [3, 3, 3, 1] * 2
    epochs = [list(chain(*run.learner.batches[start : start + 4])) for start in (0, 4)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(sums(10))
    assert epochs[0] != epochs[1]


def test_alike_lengths_stand_in_one_batch_where_the_recipe_says_so(tmp_path):
    run = trainer(tmp_path, items=25, batch=4, epochs=1, alike=7)
    run.learner.length = lambda item: item[2]
    run.fit()
    assert [len(batch) for batch in run.learner.batches] == [4] * 6 + [1]
    assert sorted(chain(*run.learner.batches)) == sorted(sums(25))
    plain = trainer(tmp_path / "plain", items=25, batch=4, epochs=1)
    plain.fit()
    assert unlike(run) < unlike(plain) / 2


def unlike(run):
    """Return by how much the longest and the shortest of batches differ, added up."""
    sums_of = [[item[2] for item in batch] for batch in run.learner.batches]
    return sum(max(batch) - min(batch) for batch in sums_of)


@pytest.mark.parametrize(("number", "size", "parted"), [(8, 4, 2), (5, 5, 4)])
def test_batches_that_are_accumulated_are_one_step(tmp_path, number, size, parted):
    values = {"items": number, "epochs": 1, "optimizer": "sgd"}
    whole = trainer(tmp_path / "whole", batch=size, **values)
    # Of five items the second batch has one, which weighs as much as any other.
    parts = trainer(tmp_path / "parts", batch=parted, accumulate=2, **values)
    for run in (whole, parts):
        # Neither dropout nor the batch's own mean: only how losses are added up may differ.
        run.learner.model[2].p = 0.0
        run.learner.model[3] = torch.nn.Identity()
        run.learner.loss = exact(run.learner)
        run.fit()
    assert whole.progress.step == parts.progress.step == number // size
    for one, other in zip(
        whole.learner.model.parameters(), parts.learner.model.parameters(), strict=True
    ):
        assert torch.allclose(one, other, atol=1e-5)


def exact(adder):
    """Return the loss without noise."""

    def loss(items):
        given = torch.tensor([item[:2] for item in items], dtype=torch.float32)
        wanted = torch.tensor([item[2] for item in items], dtype=torch.float32)
        return torch.nn.functional.mse_loss(adder.model(given).squeeze(1), wanted)

    return loss


def test_the_rate_rises_and_falls_as_a_linear_schedule_says(tmp_path):
    trainer(
        tmp_path, items=8, batch=4, epochs=5, schedule="linear", warmup_steps=2, learning_rate=1.0
    ).fit()
    assert rates(tmp_path) == [0.0, 0.5, *(pytest.approx((10 - step) / 8) for step in range(2, 10))]


def test_the_rate_is_halved_at_each_look_without_gain_and_training_stops_below_a_share(tmp_path):
    run = trainer(
        tmp_path,
        items=4,
        batch=4,
        epochs=50,
        schedule="plateau",
        patience=1,
        stop_below=0.01,
        learning_rate=0.1,
    )
    run.learner.score = lambda items, answers: 0.0
    run.fit()
    # The first look is a gain; the seventh halving, to 1/128, is below a hundredth.
    assert rates(tmp_path) == [0.1] * 2 + [pytest.approx(0.1 / 2**n) for n in range(1, 7)]


def test_a_plateau_lasts_as_long_as_patience_says(tmp_path):
    run = trainer(tmp_path, items=4, batch=4, epochs=7, schedule="plateau", patience=3, factor=0.1)
    run.learner.score = lambda items, answers: 0.0
    run.fit()
    assert rates(tmp_path) == [0.01] * 4 + [pytest.approx(0.001)] * 3


@pytest.mark.parametrize(
    "scores",
    [
        [0.5 + 1e-6 * at for at in range(12)],
        [0.5, 0.50004, 0.50008, 0.6, 0.6, 0.6, 0.60001, 0.59, 0.6, 0.7, 0.7, 0.7],
        [0.0, 0.0, 0.3, 0.30003, 0.30006, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.4],
    ],
)
def test_a_plateau_with_a_threshold_is_that_of_torch(tmp_path, scores):
    plateau = {"schedule": "plateau", "patience": 3, "threshold": 1e-4, "factor": 0.5}
    run = trainer(tmp_path, items=4, batch=4, epochs=12, learning_rate=0.1, **plateau)
    told = iter(scores)
    run.learner.score = lambda items, answers: next(told)
    fitted = run.fit()
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    torchs = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, mode="max", factor=0.5, patience=2
    )
    expected = []
    for score in scores:
        expected.append(optimizer.param_groups[0]["lr"])
        torchs.step(score)
    assert rates(tmp_path) == pytest.approx(expected)
    # The weights that are kept are the best ones, by however little.
    assert (fitted.score, fitted.best_step) == (max(scores), scores.index(max(scores)) + 1)


def test_it_stops_after_looks_without_gain_and_keeps_the_weights_of_the_best(tmp_path):
    run = trainer(tmp_path, epochs=50, stop_after=2)
    scores = iter([0.1, 0.5, 0.4, 0.5])
    seen = []

    def score(items, answers):
        seen.append(weights(run.learner.model))
        return next(scores)

    run.learner.score = score
    fitted = run.fit()
    assert (fitted.dev_looks, fitted.score, fitted.best_step) == (4, 0.5, 12)
    assert weights(run.learner.model) == seen[1]
    assert not run.learner.model.training


def test_gradients_are_cut_to_the_norm_that_the_recipe_says(tmp_path):
    run = trainer(tmp_path, clip=0.5, optimizer="sgd", epochs=1)
    seen = []
    step = run.optimizer.step

    def watched(*args, **named):
        norms = [each.grad.norm() for each in run.learner.model.parameters()]
        seen.append(float(torch.stack(norms).norm()))
        return step(*args, **named)

    run.optimizer.step = watched
    run.fit()
    assert max(seen) <= 0.5 + 1e-5
    assert max(line["norm"] for line in steps(tmp_path)) > 0.5


def test_without_dev_items_the_last_weights_are_kept(tmp_path):
    run = trainer(tmp_path, dev=0)
    fitted = run.fit()
    assert (fitted.score, fitted.best_step, fitted.dev_looks) == (None, fitted.steps, 0)


def test_what_is_trained_is_loaded_and_not_trained_again(tmp_path):
    run = trainer(tmp_path)
    fitted = run.fit()
    again = trainer(tmp_path)
    assert again.fit() == fitted
    assert again.learner.batches == []
    assert weights(again.learner.model) == weights(run.learner.model)
    assert not list(tmp_path.glob("checkpoint*"))


def test_at_each_step_a_learner_that_asks_is_told_its_number(tmp_path):
    run = trainer(tmp_path, items=8, epochs=2)
    told = []
    run.learner.at_step = lambda step, total: told.append((step, total))
    run.fit()
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4)]


def test_progress_is_told_with_each_step(tmp_path):
    run = trainer(tmp_path, items=8, epochs=2)
    told = []
    run.tell = lambda words, done, total: told.append((words, done, total))
    run.fit()
    assert [each[1:] for each in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert "loss" in told[0][0]
    assert "best on dev" in told[-1][0]


def half_trained(folder, **values):
    """Leave a folder with a checkpoint and more steps to come."""
    run = trainer(folder, **values)
    run.n_steps, run.training = run.n_steps, run.training
    step = run._step
    left = iter(range(run.n_steps - 2))

    def some():
        if next(left, None) is None:
            raise Killed
        return step()

    run._step = some
    with pytest.raises(Killed):
        run.fit()
    assert (folder / "checkpoint.pt").exists()


def test_a_checkpoint_of_another_recipe_is_refused(tmp_path):
    half_trained(tmp_path)
    with pytest.raises(ReaderError, match=r"checkpoint\.pt: it is of another recipe"):
        trainer(tmp_path, learning_rate=0.5).fit()


def test_another_vocabulary_is_refused_and_named(tmp_path):
    half_trained(tmp_path)
    with pytest.raises(ReaderError, match=r"0\.bias is 8 there and 9 here"):
        trainer(tmp_path, adder=Adder(width=9)).fit()


def test_another_baselines_weights_are_refused_and_named(tmp_path):
    trainer(tmp_path).fit()
    with pytest.raises(ReaderError, match=r"weights-\d+\.pt: the model here has no 0\.bias"):
        load_fitted(
            torch.nn.Sequential(torch.nn.Linear(2, 8, bias=False)), tmp_path / "fitted.json"
        )


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no more than that", b"{}", b"\x80\x04N."])
def test_a_file_that_is_no_checkpoint_is_refused_in_one_line(tmp_path, content):
    half_trained(tmp_path)
    (tmp_path / "checkpoint.pt").write_bytes(content)
    with pytest.raises(ReaderError, match=r"checkpoint\.pt: it is (no|a file)") as refused:
        trainer(tmp_path).fit()
    assert "\n" not in str(refused.value)


def test_weights_that_were_changed_are_refused(tmp_path):
    trainer(tmp_path).fit()
    path = next(tmp_path.glob("weights-*.pt"))
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(ReaderError, match="missing or not what was trained"):
        trainer(tmp_path).fit()


def test_on_a_full_disk_it_ends_in_one_line_and_goes_on_from_what_was_kept(tmp_path):
    values = {"checkpoint_steps": 1}
    undisturbed = trainer(tmp_path / "whole", **values)
    undisturbed.fit()
    full = trainer(tmp_path / "full", **values)
    saved = []

    def save(state, file):
        torch_save(state, file)
        saved.append(state)
        if len(saved) > 5:
            raise OSError(28, "No space left on device")

    torch_save = torch.save
    with mock.patch.object(checkpoint.torch, "save", save), pytest.raises(ReaderError) as refused:
        full.fit()
    assert "the disk is full" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list((tmp_path / "full").glob(".*"))
    again = trainer(tmp_path / "full", **values)
    again.fit()
    assert len(again.learner.batches) < len(undisturbed.learner.batches)
    assert weights(again.learner.model) == weights(undisturbed.learner.model)


def test_nothing_to_learn_from_is_refused(tmp_path):
    with pytest.raises(ReaderError, match="no item to learn from"):
        trainer(tmp_path, items=0)


def test_a_loss_that_is_no_number_is_refused_and_what_was_trained_is_kept(tmp_path):
    run = trainer(tmp_path, checkpoint_steps=1)
    loss = run.learner.loss

    def failing(items):
        return loss(items) * (float("nan") if run.progress.step == 3 else 1.0)

    run.learner.loss = failing
    with pytest.raises(ReaderError, match="no number any more at step 4"):
        run.fit()
    assert checkpoint.load(tmp_path / "checkpoint.pt")["progress"]["step"] == 3


def test_a_dev_set_that_gives_no_score_is_refused(tmp_path):
    run = trainer(tmp_path)
    run.learner.score = lambda items, answers: float("nan")
    with pytest.raises(ReaderError, match="cannot be scored on dev"):
        run.fit()
