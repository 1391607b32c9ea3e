"""Questions that simulated workers write about pairs of paragraphs, with answers and proofs."""

import random
from collections.abc import Mapping
from typing import Any

from annotation.protocols.hotpotqa.advice import without_brackets
from annotation.protocols.hotpotqa.simulation.comprehension import (
    FoundAnswer,
    answers_in,
    any_words,
    has_year,
    mention,
    own_name,
    year_fact,
)
from tasks.simulation.behaviour import Behaviour

# Quoted words are found again by those who answer.
BRIDGE = (
    "Of the {noun} of what {a} names, which {kind} stands between “{left}” and “{right}”?",
    "Which {kind} comes after “{left}” and before “{right}” in what is said of the {noun} "
    "that {a} leads to?",
)
WHICH = "Of which of the two is it said that “{words}”, {a} or {b}?"
YEARS = "Do the texts about {a} and {b} both name a year?"
NONSENSE = "What is the best thing about {a} and {b}, number {number}?"
NO_QUESTION = "No question came to mind that needs both of these paragraphs."
# A name, a number, a year: how likely a worker asks for each.
LIKELY = {"name": 4, "year": 2, "number": 1}


def write(page: Mapping[str, Any], behaviour: Behaviour, rng: random.Random) -> list[dict]:
    """Return an entry for every pair of the page: a question, or a skip while skips are left."""
    skips = page["limits"]["max_skips"]
    entries = []
    for item in page["items"]:
        skipped = skips > 0 and rng.random() < behaviour.gives_up
        skips -= skipped
        entries.append(skip(item) if skipped else _entry(item, page["limits"], behaviour, rng))
    return entries


def skip(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a pair that no question is asked about."""
    return {"item": item["id"], "skipped": True, "reason": NO_QUESTION}


def _entry(
    item: Mapping[str, Any], limits: Mapping[str, Any], behaviour: Behaviour, rng: random.Random
) -> dict[str, Any]:
    a, b = item["paragraphs"]
    if rng.random() < behaviour.nonsense:
        text = NONSENSE.format(a=_name(a), b=_name(b), number=rng.randrange(1000))
        yes_no = item["form"] == "yes_no"
        answer = {"type": rng.choice(("yes", "no"))} if yes_no else any_words(b, rng)
        facts = [[int(one["document"]), 0] for one in (a, b)]
    elif item["form"] == "yes_no":
        text, answer, facts = _both(a, b)
    elif item["type"] == "comparison":
        text, answer, facts = _either(a, b, rng)
    else:
        text, answer, facts = _over_the_bridge(a, b, limits["max_answer_words"], rng)
    if answer["type"] == "span" and rng.random() < behaviour.wrong_answer:
        answer = any_words(b, rng)
    entry = {"item": item["id"], "text": text, "facts": facts, "skipped": False, "reason": ""}
    return {"spans": [], **entry, **answer}


Asked = tuple[str, dict[str, Any], list[list[int]]]


def _over_the_bridge(
    a: Mapping[str, Any], b: Mapping[str, Any], most_words: int, rng: random.Random
) -> Asked:
    """Ask for words of b, which is found by what a says."""
    found = [one for one in answers_in(b, most_words) if one.left and one.right]
    if not found:
        return _either(a, b, rng)
    one = rng.choices(found, [LIKELY[each.kind] for each in found])[0]
    text = rng.choice(BRIDGE).format(
        a=_name(a), kind=one.kind, noun=_noun(one), left=one.left, right=one.right
    )
    facts = [[int(a["document"]), mention(a, b["title"])], [int(b["document"]), one.sentence]]
    return text, one.answer(), facts


def _noun(one: FoundAnswer) -> str:
    """Return what a question calls the paragraph that the words stand in: not by its name."""
    text = one.paragraph["text"]
    return "place" if " city " in text or " town " in text else "subject"


def _either(a: Mapping[str, Any], b: Mapping[str, Any], rng: random.Random) -> Asked:
    """Ask of which of the two something is said."""
    right, other = rng.sample((a, b), 2)
    number = rng.randrange(len(right["sentences"]))
    start, end = right["sentences"][number]
    words = " ".join(right["text"][start:end].split()[-8:]).rstrip(".")
    first, last = own_name(right)
    span = {"document": right["document"], "start": first, "end": last}
    facts = [[int(right["document"]), number], [int(other["document"]), 0]]
    answer = {"type": "span", "spans": [span]}
    return WHICH.format(words=words, a=_name(a), b=_name(b)), answer, facts


def _both(a: Mapping[str, Any], b: Mapping[str, Any]) -> Asked:
    """Ask whether the same holds for both."""
    answer = {"type": "yes" if has_year(a) and has_year(b) else "no"}
    return YEARS.format(a=_name(a), b=_name(b)), answer, [year_fact(a), year_fact(b)]


def _name(paragraph: Mapping[str, Any]) -> str:
    return without_brackets(paragraph["title"])
