"""How far the difficulty of a collection's questions is judged, and what is missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotation.metrics.token_overlap import exact_match
from annotation.models import CrossValidation, HeldOutPrediction
from annotation.protocols.contracts import DifficultyTable
from annotation.splits.difficulty.examples import answer_of
from annotation.splits.difficulty.runs import questions_to_judge
from annotation.splits.difficulty.single_hop_review import decisions, undecided
from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.actions import ActionError
from common.long_work import WorkState
from tasks.models import Question


@dataclass(frozen=True)
class Facts:
    """What is known of how hard one question is; None where it is not judged."""

    single_hop: bool | None
    correct: bool | None = None
    loss: float | None = None


def table_of(collection: Collection) -> DifficultyTable | None:
    """Return the collection's table of difficulty, None where its protocol judges none."""
    table = getattr(parameters_of(collection), "difficulty", None)
    return table if isinstance(table, DifficultyTable) else None


def last_run(collection: Collection) -> CrossValidation | None:
    """Return the newest run that was done."""
    return CrossValidation.objects.filter(collection=collection, state=WorkState.DONE).first()


def n_unjudged(collection: Collection, run: CrossValidation) -> int:
    """Return how many questions that are to be judged the run has not answered."""
    judged = HeldOutPrediction.objects.filter(run=run).values("question_id")
    return questions_to_judge(collection).exclude(pk__in=judged).count()


def facts_of(collection: Collection, questions: Iterable[Question]) -> dict[int, Facts]:
    """Return what is known of each question, by id; expects verdict__chosen selected.

    Raises ActionError that says what is missing: the sample, a decision about a worker, or
    the cross-validation of a question. Answers are compared with what is released now.
    """
    _check_decided(collection)
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
    if missing:
        raise ActionError(_unjudged(collection, missing, total))
    return facts


def as_example(facts: Facts) -> dict[str, Any]:
    """Return the keys that a protocol's `assign` reads of an example."""
    return {"single_hop": facts.single_hop, "correct": facts.correct, "loss": facts.loss}


def _check_decided(collection: Collection) -> None:
    waiting = len(undecided(collection))
    if waiting:
        some = "one sampled worker is" if waiting == 1 else f"{waiting} sampled workers are"
        raise ActionError(
            f"The difficulty is not judged: {some} not decided yet. Decide on the Difficulty page "
            f"of {collection.slug}, then run judge_difficulty {collection.slug}."
        )


def _unjudged(collection: Collection, missing: int, total: int) -> str:
    going_on = CrossValidation.objects.filter(
        collection=collection, state__in=CrossValidation.GOING_ON
    ).first()
    if going_on is not None:
        return (
            "The cross-validation goes on: wait for it to be done, or help with "
            f"judge_difficulty {collection.slug}."
        )
    return (
        f"The difficulty of {missing} of {total} questions is not judged: "
        f"run judge_difficulty {collection.slug}."
    )
