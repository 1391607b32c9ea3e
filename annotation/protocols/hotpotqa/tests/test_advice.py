"""Advice speaks up where a question can be better, and seldom where it is good."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.protocols.hotpotqa import checks as advice
from annotation.protocols.hotpotqa.tests.real import Typed, typed
from annotation.protocols.tests.advising import assert_rare
from tasks.work.widgets.words import is_asked

README = Path(advice.__file__).parent / "README.md"
TEXTS = {
    "Ada Harrow": "Ada Harrow was born in Quarnsey, where she kept the tide tables.",
    "Reeve of Quarnsey": "The Reeve of Quarnsey speaks for the island. The first was Ada Harrow.",
}


def advised(text: str, *titles: str, answer: str = "") -> list[str]:
    """Return what is said of a bridge question; answer: words of the first paragraph."""
    paragraphs = [
        {"document": str(at), "title": title, "text": TEXTS[title], "sentences": []}
        for at, title in enumerate(titles)
    ]
    start = TEXTS[titles[0]].index(answer)
    span = {"document": "0", "start": start, "end": start + len(answer), "text": answer}
    pair = {"text": text, "facts": [], "spans": [span], "type": "span" if answer else None}
    item = {"type": "bridge", "form": "any", "paragraphs": paragraphs}
    return [sentence for _, sentence in advice.on(pair, item)]


def test_a_place_is_no_name_cut_short() -> None:
    question = "What did the first who spoke for Quarnsey keep?"
    assert advised(question, "Ada Harrow", "Reeve of Quarnsey") == []


def test_a_person_is_called_by_the_whole_name() -> None:
    question = "For which island did Harrow of the tide tables speak?"
    (said,) = advised(question, "Ada Harrow", "Reeve of Quarnsey")
    assert said == "Use complete names: write “Ada Harrow” where you mean it."


@pytest.mark.parametrize("named_after", ["Harrow Hospital", "Reeves & Harrow", "House of Harrow"])
def test_what_is_named_after_a_person_describes_them_on_purpose(named_after: str) -> None:
    question = f"For which island did the founder of {named_after} speak?"
    assert advised(question, "Ada Harrow", "Reeve of Quarnsey") == []


def test_one_of_two_that_are_offered_is_no_answer_given_away() -> None:
    question = "Who spoke for the tide tables, Ada Harrow or the island?"
    titles = ("Reeve of Quarnsey", "Ada Harrow")
    given_away = "The answer stands in the question."
    assert given_away not in advised(question, *titles, answer="Ada Harrow")
    without_choice = "Who was Ada Harrow, who spoke for the tide tables?"
    assert given_away in advised(without_choice, *titles, answer="Ada Harrow")


# The README's words for each piece of advice, how its sentence begins or ends, and where it can be.
ADVICE: dict[str, tuple[str, Any]] = {
    "it asks for no yes or no, but the pair does": ("This pair asks for", ("yes_no",)),
    "it asks for yes or no, but words are marked": ("This sounds like", ("any", "span")),
    "nothing leads to the other paragraph": ("Nothing in it leads to", ("any", "span", "yes_no")),
    "a comparison names both": ("A comparison names both", ("span", "yes_no")),
    "the answer stands in the question": ("The answer stands", ("any",)),
    "one paragraph alone gives the answer": ("alone seems to give", ("any", "span", "yes_no")),
    # What a comparison asks about it names anyway: there is no hop to take.
    "complete names": ("Use complete names", ("any",)),
    "the sentence with the answer is not picked": (advice.UNPROVEN, ("any", "span")),
}


def measure(questions: list[Typed], sentence: str, forms: tuple[str, ...]) -> tuple[int, int]:
    """Return on how many questions of these forms it could speak, and on how many it did."""
    fit = [(entry, item) for entry, item in questions if item["form"] in forms]
    spoke = [
        entry for entry, item in fit if any(sentence in said for _, said in advice.on(entry, item))
    ]
    return len(fit), len(spoke)


@pytest.mark.data
def test_advice_is_seldom_wrong_about_real_questions(data: Path) -> None:
    questions = typed(data)
    measured = {name: measure(questions, *how) for name, how in ADVICE.items()}
    asked = json.loads((data / "replay/hotpot_dev_simplified_react.json").read_text("utf-8"))
    unmarked = [one for one in asked if not is_asked(one["question"])]
    measured["a question mark"] = len(asked), len(unmarked)
    assert_rare(README, measured)
