"""What simulated workers type passes the page's checks, and readers find what writers meant."""

import random
from typing import Any

import pytest

from annotation.protocols.hotpotqa import checks, simulated
from annotation.protocols.hotpotqa.tests.pages import PARAMETERS, item, page
from tasks.simulation.behaviour import BEHAVIOURS, DILIGENT, Behaviour
from tasks.work.widgets import pairs

pytestmark = pytest.mark.pure
FORMS = (("bridge", "any"), ("comparison", "span"), ("comparison", "yes_no"))


def written(behaviour: Behaviour, seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return items of every form, and the cleaned entries that are typed; nothing is wrong."""
    items = [item(number, *form) for number, form in enumerate(FORMS)]
    typed = simulated.fill(page(items), behaviour, random.Random(seed), None)
    data, problems = pairs.clean_written(typed, items, PARAMETERS.checks)
    assert problems == []
    found = checks.problems("pair", data, items, PARAMETERS.question, PARAMETERS)
    assert [problem for problem in found if not problem.hint] == []
    return items, data["pairs"]


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=lambda one: one.name)
def test_whatever_is_typed_passes_the_checks(behaviour: Behaviour) -> None:
    for seed in range(20):
        for one in written(behaviour, seed)[1]:
            documents = {document for document, _ in one["facts"]}
            assert one["skipped"] or documents == {0, 1}


def test_an_answer_is_words_of_its_paragraph_or_yes_or_no() -> None:
    kinds = set()
    for seed in range(30):
        items, entries = written(DILIGENT, seed)
        for shown, one in zip(items, entries, strict=True):
            kinds.add(one["type"])
            for span in one["spans"]:
                text = shown["paragraphs"][int(span["document"])]["text"]
                assert text[span["start"] : span["end"]] == span["text"]
    assert kinds == {"span", "yes"}


def test_careful_readers_find_the_answer_whatever_the_order_of_the_paragraphs() -> None:
    careful = Behaviour("careful")
    for seed in range(30):
        items, entries = written(careful, seed)
        for shown, one in zip(items, entries, strict=True):
            asked = {**shown, "form": "any", "question": one["text"]}
            asked["paragraphs"] = shown["paragraphs"][::-1]
            typed = simulated.fill(
                {"kind": "pair_answer", "items": [asked]}, careful, random.Random(1), None
            )
            data, problems = pairs.clean_answered(typed, [asked], PARAMETERS.checks)
            assert problems == []
            [answer] = data["answers"]
            assert said(answer) == said(one)
            assert answer["facts"] == one["facts"]


def said(answer: dict[str, Any]) -> str:
    """Return an answer as words."""
    return answer["spans"][0]["text"] if answer["type"] == "span" else answer["type"]
