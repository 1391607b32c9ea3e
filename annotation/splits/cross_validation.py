"""The cross-validation that judges how hard questions are: its readers, runs and results."""

import hashlib
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.metrics.token_overlap import exact_match
from annotation.models import CrossValidation, Fold, HeldOutPrediction
from annotation.protocols import contracts
from annotation.protocols.contracts import DifficultyTable
from annotation.splits.kept_questions import answer_of, examples, kept_questions, withheld
from annotation.splits.single_hop_review import decisions, draw_sample, undecided
from collector.code_points import CodePoints
from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from common.long_work import WorkState
from readers.reader import LIGHT, READERS, Prediction
from readers.trained import INSTALL, is_installed
from tasks.models import Question

_NAMED = 3
BATCH = 1000


def readers_of(collection: Collection) -> Mapping[str, str]:
    """Return MODULE:CLASS of each reader by name: the shared readers and the protocol's own."""
    protocol = get_protocol(collection.protocol)
    if not protocol.has(contracts.READERS, "READERS"):
        return READERS
    return {**READERS, **protocol.part(contracts.READERS).READERS}


def chosen_reader(collection: Collection, table: DifficultyTable, name: str = "") -> str:
    """Return the name of the reader to train; without `name`, the one in the table.

    Raises ActionError for an unknown reader.
    """
    chosen = name or table.reader
    known = readers_of(collection)
    if chosen not in known:
        raise ActionError(
            f"There is no reader {chosen} for {collection.slug}: take {' or '.join(known)}."
        )
    return chosen


def can_train(reader: str) -> bool:
    """Return whether this machine has the packages that training the reader needs."""
    return reader in READERS or is_installed()


def check_trainable(reader: str) -> None:
    """Raise ActionError that says what to install, if this machine cannot train the reader."""
    if not can_train(reader):
        raise ActionError(f"{INSTALL}. The reader {reader} needs them; {LIGHT} needs no more.")


class PredictionsError(ValueError):
    """A predictions file cannot be used; the message is one line that says what to do."""


def read_predictions(path: Path) -> dict[str, Prediction]:
    """Return the predictions of a file by the questions' ids.

    Either JSON lines {"id", "answer", "loss"}, or one object {"answer": {id: …}, "loss": {id: …}},
    which may have the other keys of an official prediction file too. Raises PredictionsError.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PredictionsError(f"{path}: it cannot be read ({error}).") from None
    rows = _of_object(path, text) or list(_of_lines(path, text))
    if not rows:
        raise PredictionsError(f"{path}: it holds no prediction.")
    found: dict[str, Prediction] = {}
    for where, row in rows:
        key, answer, loss = row.get("id"), row.get("answer"), row.get("loss")
        if not isinstance(key, str) or not isinstance(answer, str):
            raise PredictionsError(f'{path}, {where}: "id" and "answer" must be texts.')
        is_number = isinstance(loss, int | float) and not isinstance(loss, bool)
        if not is_number or not math.isfinite(loss) or loss < 0:  # type: ignore[operator, arg-type]
            raise PredictionsError(f'{path}, {where}: "loss" must be a number, 0 or more.')
        one = Prediction(key, answer, round(float(loss), 6))  # type: ignore[arg-type]
        if one.key in found:
            raise PredictionsError(f"{path}, {where}: {one.key} is answered twice; keep one.")
        found[one.key] = one
    return found


def check_complete(path: Path, found: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise PredictionsError that names the first wanted questions without a prediction."""
    have = set(found)
    missing = sorted(key for key in wanted if key not in have)
    if missing:
        raise PredictionsError(
            f"{path}: {len(missing)} questions have no prediction, such as "
            f"{', '.join(missing[:_NAMED])}. Predict all of them, out of fold: --examples FILE "
            "writes them with their folds."
        )


def _of_object(path: Path, text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of one object with the answers and losses by id; none for other files."""
    try:
        whole = json.loads(text)
    except ValueError:
        return []
    if not isinstance(whole, dict) or not isinstance(whole.get("answer"), dict):
        return []
    losses = whole.get("loss")
    if not isinstance(losses, dict):
        raise PredictionsError(
            f'{path}: beside "answer" it needs "loss", with the loss of each answer by id.'
        )
    return [
        (key, {"id": key, "answer": answer, "loss": losses.get(key)})
        for key, answer in whole["answer"].items()
    ]


def _of_lines(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise PredictionsError(
                f'{path}, line {number}: it is no object with "id", "answer" and "loss".'
            )
        yield f"line {number}", row


def begin_run(
    collection: Collection, table: DifficultyTable, by: str, now: datetime, reader: str = ""
) -> CrossValidation:
    """Return a new run with its folds waiting, or the run that is going on.

    reader: its name; without it, the one in the table. Draws the sample of the workers who are top
    contributors now. Raises ActionError while sampled workers are undecided, for fewer questions
    than folds, for an unknown reader, and during a run by another reader.
    """
    name = chosen_reader(collection, table, reader)
    if (going_on := run_going_on(collection).first()) is not None:
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
        return run_going_on(collection).get()
    return run


def run_going_on(collection: Collection) -> QuerySet[CrossValidation]:
    """Return the query for the run that is going on; there is one at most."""
    return CrossValidation.objects.filter(collection=collection, state__in=CrossValidation.GOING_ON)


def run_from_file(
    collection: Collection, table: DifficultyTable, path: Path, by: str, now: datetime
) -> CrossValidation:
    """Return a finished run with an external model's answers; a run that is going on fails.

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
    """Return a finished run with the given answers; a run that is going on fails.

    rows: (id, key) of its questions. predictions: one for each of them, by key.
    """
    with transaction.atomic():
        run_going_on(collection).update(
            state=WorkState.FAILED, message=f"{reader} took its place.", ended_at=now
        )
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
    """Finish a run whose folds are all done; return whether this call did so.

    It stores which answers are right, the number of right answers, and a checksum. A run with a
    failed fold fails.
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
    """Return every kept question whose writer was not judged to be single-hop.

    Questions that a release withholds are left out: no reader learns from their answers any more.
    """
    easy = [worker for worker, row in decisions(collection).items() if row.single_hop]
    rows = kept_questions(collection).exclude(worker_id__in=easy)
    return rows.exclude(split_assignment__in=withheld(collection))


def to_judge(collection: Collection, table: DifficultyTable) -> list[tuple[int, str]]:
    """Return (id, key) of the questions of a new run; raises ActionError as `begin_run`."""
    draw_sample(collection, table)
    if waiting := _waiting(collection):
        raise ActionError(
            f"{waiting.capitalize()} not decided yet: say on the Difficulty page of "
            f"{collection.slug} whether their questions are single-hop."
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
    """Write the folds and the questions in each, with answers if there are predictions."""
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

    A model that is trained on the other folds is to answer each question. `run_from_file` reads
    its answers. Raises ActionError as `begin_run` does, and for a file that exists.
    """
    rows = to_judge(collection, table)
    folds = fold_of((key for _, key in rows), table.folds, collection.random_seed)
    try:
        with path.open("x", encoding="utf-8") as file:
            for example in examples(kept_questions(collection)):
                if example.key in folds:
                    line = {
                        "id": example.key,
                        "fold": folds[example.key],
                        "question": example.question,
                        "answer": example.answer,
                        "supporting_facts": [
                            [example.texts[text].title, sentence]
                            for text, sentence in example.facts
                        ],
                        "context": [
                            [text.title, [text.text[start:end] for start, end in text.sentences]]
                            for text in example.texts
                        ],
                    }
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError as error:
        raise ActionError(f"{path}: it cannot be written ({error.strerror}).") from None
    return len(rows)


@dataclass(frozen=True)
class Facts:
    """What is known about the difficulty of one question; None means that it is not judged."""

    single_hop: bool | None
    correct: bool | None = None
    loss: float | None = None


def table_of(collection: Collection) -> DifficultyTable | None:
    """Return the collection's table of difficulty; None if its protocol does not judge it."""
    table = getattr(parameters_of(collection), "difficulty", None)
    return table if isinstance(table, DifficultyTable) else None


def last_run(collection: Collection) -> CrossValidation | None:
    """Return the newest finished run."""
    return CrossValidation.objects.filter(collection=collection, state=WorkState.DONE).first()


def n_unjudged(collection: Collection, run: CrossValidation) -> int:
    """Return the number of questions to judge that are not in the run."""
    judged = HeldOutPrediction.objects.filter(run=run).values("question_id")
    return questions_to_judge(collection).exclude(pk__in=judged).count()


def facts_of(collection: Collection, questions: Iterable[Question]) -> dict[int, Facts]:
    """Return the facts about each question, by id; expects verdict__chosen selected.

    Raises ActionError that says what is missing: the sample, a decision about a worker, or
    the cross-validation of a question. Answers are compared with the present gold answers.
    """
    if waiting := _waiting(collection):
        raise ActionError(
            f"The difficulty is not judged: {waiting} not decided yet. Decide on the Difficulty "
            f"page of {collection.slug}, then run judge_difficulty {collection.slug}."
        )
    decided = decisions(collection)
    run = last_run(collection)
    judged: dict[int, tuple[str, float]] = {}
    if run is not None:
        found = HeldOutPrediction.objects.filter(run=run, loss__isnull=False)
        for pk, answer, loss in found.values_list("question_id", "answer", "loss").iterator():
            judged[pk] = answer, loss or 0.0
    facts: dict[int, Facts] = {}
    total = missing = 0
    for row in questions:
        total += 1
        decision = decided.get(row.worker_id or "")
        single_hop = decision.single_hop if decision else None
        if row.pk in judged:
            answer, loss = judged[row.pk]
            right = exact_match(answer, answer_of(row.verdict.chosen)) == 1
            facts[row.pk] = Facts(single_hop, right, loss)
        else:
            facts[row.pk] = Facts(single_hop)
            missing += not single_hop
    if missing and run_going_on(collection).exists():
        raise ActionError(
            "The cross-validation goes on: wait for it to be done, or help with "
            f"judge_difficulty {collection.slug}."
        )
    if missing:
        raise ActionError(
            f"The difficulty of {missing} of {total} questions is not judged: "
            f"run judge_difficulty {collection.slug}."
        )
    return facts


def as_example(facts: Facts) -> dict[str, Any]:
    """Return the facts under the keys that a protocol's `assign` reads."""
    return {"single_hop": facts.single_hop, "correct": facts.correct, "loss": facts.loss}


def _waiting(collection: Collection) -> str:
    """Return in words how many sampled workers are undecided; blank for none."""
    waiting = len(undecided(collection))
    if waiting == 1:
        return "one sampled worker is"
    return f"{waiting} sampled workers are" if waiting else ""
