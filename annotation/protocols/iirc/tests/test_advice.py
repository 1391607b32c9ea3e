"""Advice on a question or an answer: kind, and seldom wrong about real ones."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.iirc import checks, simulated
from annotation.protocols.iirc.tests.test_replay import typed
from annotation.protocols.tests.advising import assert_rare
from collector.ingest.segmentation import split
from collector.protocols.loading import get_protocol

PARAMETERS = get_protocol("iirc").parameters()
README = Path(checks.__file__).parent / "README.md"
ANNOTATED = "replay/iirc_ircot_annotations.jsonnet"
FILES = ("replay/iirc_from_ircot.json", "official/iirc/iirc_dev_first_passage.json")
# The README's words for each piece of advice, and what its sentence holds.
LONG = "A piece of your evidence has"
ON_TEXTS = {
    "a question mark": "end with a question mark",
    "nothing of the paragraph": "names the linked article and nothing else",
}
ON_ANSWERS = {
    "an answer is long": "Your answer has",
    "evidence of an answer is long": LONG,
    "all evidence is in the paragraph": "All your evidence is in the paragraph",
}
DRAWINGS = "Ada Byrne made the drawings of the Long Bridge in the spring of 1902."


def asked(text: str, words: str = "the Long Bridge") -> list[str]:
    """Return what is advised about a question on DRAWINGS with this evidence."""
    item = {"id": "0", "text": DRAWINGS, "sentences": [[0, len(DRAWINGS)]]}
    context = [{"document": "main", "text": words}]
    question = {"item": "0", "text": text, "links": ["Ada Byrne"], "context": context}
    found = checks.problems(
        "question", {"questions": [question]}, [item], PARAMETERS.question, PARAMETERS
    )
    return [problem.message for problem in found if problem.hint]


def answered(**values: Any) -> list[str]:
    """Return what is advised about an answer with words of an article."""
    span = {"document": "Ada Byrne", "text": "1871"}
    answer = {"item": "0", "type": "span", "spans": [span], "context": [span], **values}
    found = checks.problems("answer", {"answers": [answer]}, [{"id": "0"}], None, PARAMETERS)
    return [problem.message for problem in found if problem.hint]


def test_an_age_asked_in_the_words_of_one_sentence_is_a_good_question() -> None:
    assert asked("How old was Ada Byrne when she made the drawings of the Long Bridge?") == []


def test_long_marks_get_a_kind_word() -> None:
    long = {"document": "Ada Byrne", "text": "word " * 80}
    assert asked("How old was Byrne when she made them?", long["text"]) == [
        "A piece of your evidence has 80 words. Would the few that matter do?"
    ]
    assert answered(context=[long]) == [
        "A piece of your evidence has 80 words. Would the few that matter do?"
    ]
    assert answered(spans=[{"document": "Ada Byrne", "text": "word " * 50}]) == [
        "Your answer has 50 words. Would fewer of them say it as well?"
    ]


@pytest.mark.data
def test_advice_is_seldom_wrong_about_real_questions(data: Path) -> None:
    asked = [_as_question(one) for path in FILES for one in _questions(data / path)]
    proven = [*_annotated(data / ANNOTATED), *_official(data / FILES[1])]
    marked = [_with_evidence(answer) for answer in proven]
    measured = {name: _measure("question", asked, words) for name, words in ON_TEXTS.items()}
    measured["evidence of a question is long"] = _measure("question", marked, LONG)
    answers = [({"answers": [{"item": "0", **one}]}, [{"id": "0"}]) for one in proven]
    measured |= {name: _measure("answer", answers, words) for name, words in ON_ANSWERS.items()}
    assert_rare(README, measured)


def _measure(kind: str, pages: list[Any], words: str) -> tuple[int, int]:
    """Return of how many pages the advice could speak, and of how many it did."""
    table = PARAMETERS.stages()[kind]
    said = [checks.problems(kind, data, items, table, PARAMETERS) for data, items in pages]
    return len(pages), sum(any(words in one.message for one in found) for found in said)


def _questions(path: Path) -> list[dict[str, Any]]:
    return typed(simulated.replay(path))[0]


def _as_question(one: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    text = one["passage"]["text"]
    item = {"id": "0", "text": text, "sentences": split(text, "en")}
    question = {"item": "0", "text": one["question"], "context": [], "links": one["writer_links"]}
    return {"questions": [question]}, [item]


def _with_evidence(answer: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Return the page of a writer whose evidence is what the answer's is in the paragraph."""
    context = [span for span in answer["context"] if span["document"] == "main"]
    question = {"item": "0", "text": "Who made the drawings?", "links": ["A"], "context": context}
    return {"questions": [question]}, [{"id": "0", "text": "", "sentences": []}]


def _annotated(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the answers of a file of questions with the words that lead to each answer."""
    text = re.sub(r"#.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
    for one in json.loads(re.sub(r",(\s*[\]}])", r"\1", text)):
        steps = one["reasoning_steps"]
        pieces = [piece for step in steps for piece in step["paragraphs"] if piece["title"]]
        main = pieces[0]["title"]
        context = [
            {
                "document": "main" if piece["title"] == main else piece["title"],
                "text": piece["text_substring"],
            }
            for piece in pieces
        ]
        answer = steps[-1]["cot_sent"].partition("answer is: ")[2].rstrip(".")
        yield {"type": "span", "spans": [{"document": "0", "text": answer}], "context": context}


def _official(path: Path) -> Iterator[dict[str, Any]]:
    for passage in json.loads(path.read_text("utf-8")):
        for one in passage["questions"]:
            context = [
                {"document": each["passage"], "text": each["text"]} for each in one["context"]
            ]
            yield {"type": "span", "spans": one["answer"]["answer_spans"], "context": context}
