"""A cross-validation over the questions that need both paragraphs: begun, given away, summed up."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.metrics.token_overlap import exact_match
from annotation.models import CrossValidation, Fold, HeldOutPrediction
from annotation.protocols.contracts import DifficultyTable
from annotation.splits.difficulty.examples import answer_of, examples, kept_questions
from annotation.splits.difficulty.predictions import check_complete, read_predictions
from annotation.splits.difficulty.readers import chosen_reader
from annotation.splits.difficulty.single_hop_review import decisions, draw_sample, undecided
from annotation.splits.settled import withheld
from collector.code_points import CodePoints
from collector.models import Collection
from common.actions import ActionError
from common.long_work import WorkState
from readers.example import Example, Prediction
from tasks.models import Question

BATCH = 1000


def begin_run(
    collection: Collection, table: DifficultyTable, by: str, now: datetime, reader: str = ""
) -> CrossValidation:
    """Return a new run with its folds waiting, or the one that goes on.

    reader: its name, the table's where none is given. Draws the sample of whoever is a top
    contributor by now. Raises ActionError while sampled workers are undecided, for fewer questions
    than folds, for an unknown reader, and while a run by another one goes on.
    """
    name = chosen_reader(collection, table, reader)
    going_on = CrossValidation.objects.filter(
        collection=collection, state__in=CrossValidation.GOING_ON
    ).first()
    if going_on is not None:
        if reader and reader != going_on.reader:
            raise ActionError(
                f"A cross-validation by the reader {going_on.reader} goes on in "
                f"{collection.slug}: let it end first."
            )
        return going_on
    rows = to_judge(collection, table)
    try:
        with transaction.atomic():
            run = CrossValidation.objects.create(
                collection=collection,
                reader=name,
                seed=collection.random_seed,
                n_examples=len(rows),
                n_folds=table.folds,
                by=by,
                asked_at=now,
            )
            _deal(run, rows)
    except IntegrityError:
        return CrossValidation.objects.get(
            collection=collection, state__in=CrossValidation.GOING_ON
        )
    return run


def run_from_file(
    collection: Collection, table: DifficultyTable, path: Path, by: str, now: datetime
) -> CrossValidation:
    """Return a run, done, whose answers are an outside model's; any that goes on ends.

    Raises ActionError as `begin_run` does, and PredictionsError for the file.
    """
    rows = to_judge(collection, table)
    predictions = read_predictions(path)
    check_complete(path, predictions, (key for _, key in rows))
    return run_of_answers(collection, table, rows, predictions, path.name[:200], by, now)


def run_of_answers(
    collection: Collection,
    table: DifficultyTable,
    rows: Sequence[tuple[int, str]],
    predictions: Mapping[str, Prediction],
    reader: str,
    by: str,
    now: datetime,
) -> CrossValidation:
    """Return a run, done, with answers that are there already; any that goes on ends.

    rows: (id, key) of its questions. predictions: one for each of them, by key.
    """
    with transaction.atomic():
        CrossValidation.objects.filter(
            collection=collection, state__in=CrossValidation.GOING_ON
        ).update(state=WorkState.FAILED, message=f"{reader} took its place.", ended_at=now)
        run = CrossValidation.objects.create(
            collection=collection,
            reader=reader,
            seed=collection.random_seed,
            n_examples=len(rows),
            n_folds=table.folds,
            by=by,
            asked_at=now,
        )
        _deal(run, rows, predictions)
        run.folds.update(state=WorkState.DONE, share_done=1, ended_at=now, claimed_by=by)
    sum_up(run.pk, now)
    run.refresh_from_db()
    return run


def sum_up(run_id: int, now: datetime) -> bool:
    """Return whether this call summed the run up: the one that finds all its folds done does.

    Says of each answer whether it is right, and of the whole how many are, with a checksum. A run
    of which a fold is given up has failed.
    """
    return CrossValidation.do(run_id, now, _sum_up)


def _sum_up(run: CrossValidation) -> None:
    if fold := run.folds.filter(state=WorkState.FAILED).first():
        raise ActionError(f"Fold {fold.number + 1} was given up: {fold.message}")
    digest = hashlib.sha256()
    right: list[int] = []
    rows = run.predictions.select_related("question__verdict__chosen").order_by(
        CodePoints("question__key")
    )
    for row in rows.iterator(BATCH):
        gold = answer_of(row.question.verdict.chosen)
        if exact_match(row.answer, gold):
            right.append(row.pk)
        line = [row.question.key, row.answer, f"{row.loss:.6f}"]
        digest.update(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    with transaction.atomic():
        for start in range(0, len(right), BATCH):
            run.predictions.filter(pk__in=right[start : start + BATCH]).update(is_right=True)
        run.finish(n_right=len(right), checksum=digest.hexdigest())


def fold_of(keys: Iterable[str], n_folds: int, seed: int) -> dict[str, int]:
    """Return the fold of each question: parts of equal size, the same for the same keys."""
    ordered = sorted(keys)
    random.Random(f"{seed}:cross-validation").shuffle(ordered)
    return {key: place % n_folds for place, key in enumerate(ordered)}


def questions_to_judge(collection: Collection) -> QuerySet[Question]:
    """Return every kept question whose writer is not decided to be single-hop.

    Those that a release withholds are settled: no reader learns from their answers any more.
    """
    easy = [worker for worker, row in decisions(collection).items() if row.single_hop]
    rows = kept_questions(collection).exclude(worker_id__in=easy)
    return rows.exclude(split_assignment__in=withheld(collection))


def to_judge(collection: Collection, table: DifficultyTable) -> list[tuple[int, str]]:
    """Return (id, key) of the questions of a new run; raises ActionError as `begin_run`."""
    draw_sample(collection, table)
    waiting = len(undecided(collection))
    if waiting:
        some = "One sampled worker is" if waiting == 1 else f"{waiting} sampled workers are"
        raise ActionError(
            f"{some} not decided yet: say on the Difficulty page of {collection.slug} whether "
            "their questions are single-hop."
        )
    rows = list(questions_to_judge(collection).values_list("pk", "key"))
    if len(rows) < table.folds:
        raise ActionError(
            f"{len(rows)} kept questions are to be judged, too few for {table.folds} folds: "
            f"collect more, or run validate_answers {collection.slug}."
        )
    return rows


def _deal(
    run: CrossValidation,
    rows: Sequence[tuple[int, str]],
    predictions: Mapping[str, Prediction] | None = None,
) -> None:
    """Write the folds and which question is in which, answered where there are predictions."""
    places = fold_of((key for _, key in rows), run.n_folds, run.seed)
    sizes = Counter(places.values())
    folds = Fold.objects.bulk_create(
        Fold(run=run, number=number, n_examples=sizes[number]) for number in range(run.n_folds)
    )
    given = predictions or {}
    HeldOutPrediction.objects.bulk_create(
        (
            HeldOutPrediction(
                run=run,
                fold=folds[places[key]],
                question_id=pk,
                answer=given[key].answer if key in given else "",
                loss=given[key].loss if key in given else None,
            )
            for pk, key in rows
        ),
        batch_size=BATCH,
    )


def write_examples(collection: Collection, table: DifficultyTable, path: Path) -> int:
    """Write the questions to judge as JSON lines to a new file and return how many.

    A model trained on the other folds answers each: that is what `run_from_file` takes. Raises
    ActionError as `begin_run` does, and for a file that is there already.
    """
    rows = to_judge(collection, table)
    folds = fold_of((key for _, key in rows), table.folds, collection.random_seed)
    try:
        with path.open("x", encoding="utf-8") as file:
            for example in examples(kept_questions(collection)):
                if example.key in folds:
                    line = _line(example, folds[example.key])
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ActionError(f"{path}: it cannot be written ({error.strerror}).") from None
    return len(rows)


def _line(example: Example, fold: int) -> dict[str, Any]:
    return {
        "id": example.key,
        "fold": fold,
        "question": example.question,
        "answer": example.answer,
        "supporting_facts": [
            [example.texts[text].title, sentence] for text, sentence in example.facts
        ],
        "context": [
            [text.title, [text.text[start:end] for start, end in text.sentences]]
            for text in example.texts
        ],
    }
