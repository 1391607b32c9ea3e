"""Several teachers' answers to one question: which of them count, and how people do by them."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError
from annotation.metrics.summation import plain_sum
from annotation.metrics.token_overlap import token_f1
from annotation.protocols.quac.file_format import AFFIRMATION, CONTINUATION

CANNOT_ANSWER = "CANNOTANSWER"
ACTS = {"yes/no": ("affirmation", AFFIRMATION), "followup": ("continuation", CONTINUATION)}
Labels = dict[str, list[str]]


def counted(texts: Sequence[str]) -> list[str]:
    """Return the references a question is scored against (QuAC 4.1, as the official script does).

    Either one CANNOTANSWER, where at least as many teachers found no answer as found one, or
    every span, repeated ones included.
    """
    spans = [text for text in texts if text != CANNOT_ANSWER]
    return spans if len(spans) * 2 > len(texts) else [CANNOT_ANSWER]


def f1(prediction: str, reference: str) -> float:
    """Return the word F1; an unanswerable question is answered by exactly CANNOTANSWER."""
    if reference == CANNOT_ANSWER:
        return float(prediction == reference)
    return token_f1(prediction, reference)


def human_f1(references: Sequence[str]) -> float:
    """Return the mean over the references of their best F1 against the others; 1.0 for one."""
    best = [_held_out(at, references) for at in range(len(references))]
    return plain_sum(best) / len(best)


def person_f1(at: int, texts: Sequence[str]) -> float:
    """Return how one person's answer, taken as a system's, does by the others' (QuAC 5.2).

    texts: everybody's; `at` is the person's. The references are the question's own, so that
    whoever the majority outvotes on whether there is an answer has 0, as a system would.
    """
    references = counted(texts)
    if (texts[at] == CANNOT_ANSWER) != (references == [CANNOT_ANSWER]):
        return 0.0
    # Of equal texts it does not matter which is held out.
    return _held_out(references.index(texts[at]), references)


def _held_out(left_out: int, references: Sequence[str]) -> float:
    """Return the best F1 of a reference against the others; 1.0 where there is none."""
    if len(references) == 1:
        return 1.0
    return max(
        f1(references[left_out], other) for at, other in enumerate(references) if at != left_out
    )


def system_f1(prediction: str, references: Sequence[str]) -> float:
    """Return the prediction's best F1, averaged over the sets with one reference left out.

    So a system is compared with as many references as each person is (QuAC 4.1).
    """
    scores = [f1(prediction, reference) for reference in references]
    if len(scores) == 1:
        return scores[0]
    best = [max(scores[:left_out] + scores[left_out + 1 :]) for left_out in range(len(scores))]
    return plain_sum(best) / len(best)


def read_labels(path: Path) -> dict[str, Labels]:
    """Return by act and question id what people said; simulated votes are left out.

    path: votes.parquet of a release. Raises ScoreError in one line.
    """
    from pyarrow import ArrowException, parquet

    try:
        columns = parquet.read_table(path, columns=["question_id", "answer_more", "synthetic"])
    except (OSError, ArrowException) as error:
        reason = str(error).partition("\n")[0]
        raise ScoreError(
            f"{path}: it is not a release's votes.parquet ({reason}); give that file."
        ) from None
    found: dict[str, Labels] = {act: {} for act in ACTS}
    for row in columns.to_pylist():
        if row["synthetic"]:
            continue
        said = json.loads(row["answer_more"] or "{}")
        for act, (name, letters) in ACTS.items():
            if said.get(name) in letters:
                found[act].setdefault(row["question_id"], []).append(said[name])
    return found


def majority(labels: Sequence[str], rng: random.Random) -> str:
    """Return the label given most often, one of them by `rng` where several are."""
    counts = Counter(labels)
    most = max(counts.values())
    return rng.choice(sorted(label for label, number in counts.items() if number == most))


def accuracies(
    kept: Iterable[str], predicted: Mapping[str, Mapping[str, str]], labels: Mapping[str, Labels]
) -> dict[str, float]:
    """Return in percent how often a system, and people, say what the majority says.

    kept: the ids of the questions that are scored. predicted: by act and question id, in the
    letters of the official files; a question without a prediction is a miss. A person is compared
    with the majority of the others; only questions with several labels tell of people. Ties are
    broken by the question's id.
    """
    questions = list(kept)
    result: dict[str, float] = {}
    for act, given in labels.items():
        asked = [(qid, given[qid]) for qid in questions if given.get(qid)]
        system = [
            float(predicted[act].get(qid) == ACTS[act][1][majority(said, random.Random(qid))])
            for qid, said in asked
        ]
        people = [agreement(qid, said) for qid, said in asked if len(said) > 1]
        result |= _percent(f"{act}, majority", system) | _percent(f"{act}, people", people)
    return result


def agreement(qid: str, said: Sequence[str]) -> float:
    """Return the share of people who say what the majority of the others does."""
    rng = random.Random(qid)
    hits = [majority([*said[:at], *said[at + 1 :]], rng) == label for at, label in enumerate(said)]
    return sum(hits) / len(hits)


def _percent(name: str, values: Sequence[float]) -> dict[str, Any]:
    return {name: 100 * plain_sum(values) / len(values)} if values else {}
