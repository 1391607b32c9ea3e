"""What a curious student asks: about the heading first, then about what was just answered."""

import random
import re
from collections.abc import Mapping
from typing import Any

NAME = re.compile(r"\b[A-Z]\w+(?: [A-Z]\w+)*")
FIRST = (
    "What happened in {heading}?",
    "What is interesting about {heading}?",
    "How did {heading} begin?",
    "What can you tell me about {title} and {heading}?",
)
ABOUT_A_NAME = (
    "What did {name} do?",
    "Who or what is {name}?",
    "What happened to {name} after that?",
    "When was {name} first mentioned?",
    "Did {name} have anything to do with {title}?",
)
OPEN = (
    "What happened next?",
    "Are there any other interesting aspects about this article?",
    "Why did that happen?",
    "When was that?",
    "Where did it take place?",
    "Who else was there?",
    "Did anything else come of it?",
    "How did people react?",
    "Was that a success?",
    "What was the result?",
    "Which part of it is best known?",
    "How long did it last?",
)


def next_question(state: Mapping[str, Any], rng: random.Random) -> str:
    """Return a question that has not been asked in this dialog yet.

    state: the dialog as the student sees it. Nothing but it and `rng` decides what is asked.
    """
    asked = {turn["question"].casefold() for turn in state["turns"]}
    for _ in range(20):
        question = _one(state, rng)
        if question.casefold() not in asked:
            return question
    return f"What else, as question {len(asked) + 1}?"


def _one(state: Mapping[str, Any], rng: random.Random) -> str:
    turns = state["turns"]
    words = {"title": state["title"], "heading": state["heading"] or state["title"]}
    if not turns:
        return rng.choice(FIRST).format(**words)
    answer = turns[-1]["answer"] or {}
    names = NAME.findall(answer.get("text") or "") or NAME.findall(state["background"])
    if names and rng.random() < 0.6:
        return rng.choice(ABOUT_A_NAME).format(name=rng.choice(names), **words)
    return rng.choice(OPEN)
