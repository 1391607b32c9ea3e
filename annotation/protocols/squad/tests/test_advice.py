"""Advice seldom speaks up on questions that were published."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from annotation.protocols.squad import checks
from annotation.protocols.tests.advising import assert_rare
from collector.protocols.loading import get_protocol

README = Path(__file__).parents[1] / "README.md"
PARAMETERS: Any = get_protocol("squad").parameters()
NAMES = {
    "End the question": "a question mark",
    "“": "words of the passage in a row",
    "It has": "an answer is long",
}


def test_advice_is_wrong_as_seldom_as_the_readme_says(data: Path) -> None:
    of, spoke = Counter(dict.fromkeys(NAMES.values(), 0)), Counter[str]()
    for question, context in questions(data / "official" / "squad"):
        for name in NAMES.values():
            of[name] += 1
        spans = question["answers"][:1] or question.get("plausible_answers", [])[:1]
        entry = {"text": question["question"], "type": "span", "spans": spans}
        found = checks.problems(
            "span_question",
            {"questions": [entry]},
            [{"paragraphs": [{"text": context}]}],
            PARAMETERS.question,
            PARAMETERS,
        )
        for problem in found:
            spoke[
                next(name for start, name in NAMES.items() if problem.message.startswith(start))
            ] += 1
    assert_rare(README, {name: (of[name], spoke[name]) for name in of})


def questions(folder: Path) -> list[tuple[dict[str, Any], str]]:
    """Return each published question once, with its passage."""
    found = {
        (question["question"], paragraph["context"]): question
        for path in sorted(folder.glob("*.json"))
        for article in json.loads(path.read_text("utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    }
    return [(question, context) for (_, context), question in found.items()]
