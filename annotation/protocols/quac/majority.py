"""Dialog acts as the paper scores them: against the majority of all who answered (QuAC 4.1, 5.2).

The official files have the teacher's label alone; everybody's are in a release's Parquet file.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.metrics.result import ScoreError
from annotation.metrics.summation import plain_sum
from annotation.protocols.quac.layout import AFFIRMATION, CONTINUATION

ACTS = {"yes/no": ("affirmation", AFFIRMATION), "followup": ("continuation", CONTINUATION)}
Labels = dict[str, list[str]]


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
