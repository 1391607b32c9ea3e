"""Writes the questions for a model of somebody else's, with the fold of each."""

import json
from pathlib import Path
from typing import Any

from annotation.readers.example import Example
from annotation.splits.difficulty.examples import examples, kept_questions
from annotation.splits.difficulty.parameters import DifficultyTable
from annotation.splits.difficulty.runs import fold_of, to_judge
from collector.models import Collection
from common.actions import ActionError


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
