"""What plausible workers type: questions about two paragraphs, and answers found in them."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.protocols.hotpotqa.checks import without_brackets
from tasks.simulation.behaviour import Behaviour

Paragraph = Mapping[str, Any]
CAPITAL = re.compile(r"^[^\W\d_]")
# How many words before an answer a question quotes.
LEFT, RIGHT = 5, 4


@dataclass(frozen=True)
class FoundAnswer:
    """Words of one sentence, with those before and after them in it."""

    paragraph: Paragraph
    sentence: int
    start: int
    end: int
    left: str
    right: str

    @property
    def text(self) -> str:
        """Return the words."""
        return str(self.paragraph["text"][self.start : self.end])

    @property
    def kind(self) -> str:
        """Return what one would call the words: a year, a number or a name."""
        if re.fullmatch(r"1[0-9]{3}|20[0-9]{2}", self.text):
            return "year"
        return "number" if self.text[0].isdigit() else "name"

    def answer(self) -> dict[str, Any]:
        """Return the words as the page sends an answer."""
        span = {"document": self.paragraph["document"], "start": self.start, "end": self.end}
        return {"type": "span", "spans": [span]}


def answers_in(paragraph: Paragraph, most_words: int) -> list[FoundAnswer]:
    """Return every number and every run of words with capitals, but for first words and titles."""
    title = without_brackets(paragraph["title"]).casefold()
    found = []
    for number, (start, end) in enumerate(paragraph["sentences"]):
        tokens = [one for one in paragraph["tokens"] if start <= one[0] and one[1] <= end]
        for first, last in _runs(paragraph["text"], tokens):
            run = _found(paragraph, number, tokens, first, last)
            if first and last - first < most_words and run.text.casefold() not in title:
                found.append(run)
    return found


def _runs(text: str, tokens: Sequence[tuple[int, int, bool]]) -> list[tuple[int, int]]:
    """Return (first, last) of the runs of tokens that could be an answer."""
    runs: list[tuple[int, int]] = []
    for place, (start, end, is_word) in enumerate(tokens):
        word = text[start:end]
        if word[0].isdigit():
            runs.append((place, place))
        elif is_word and word[0].isupper() and CAPITAL.match(word):
            joins = runs and runs[-1][1] == place - 1 and text[tokens[place - 1][0]].isupper()
            runs = [*runs[:-1], (runs[-1][0], place)] if joins else [*runs, (place, place)]
    return runs


def _found(
    paragraph: Paragraph,
    sentence: int,
    tokens: Sequence[tuple[int, int, bool]],
    first: int,
    last: int,
) -> FoundAnswer:
    text = paragraph["text"]
    before, after = tokens[max(0, first - LEFT) : first], tokens[last + 1 : last + 1 + RIGHT]
    start, end = tokens[first][0], tokens[last][1]
    left = text[before[0][0] : before[-1][1]] if before else ""
    right = text[after[0][0] : after[-1][1]] if after else ""
    return FoundAnswer(paragraph, sentence, start, end, left, right)


def mention(paragraph: Paragraph, title: str) -> int:
    """Return the first sentence that names the title, or shares most words with it, else 0."""
    wanted = set(without_brackets(title).casefold().split())
    shared = [
        len(wanted & set(paragraph["text"][start:end].casefold().split()))
        for start, end in paragraph["sentences"]
    ]
    return max(range(len(shared)), key=shared.__getitem__)


def own_name(paragraph: Paragraph) -> tuple[int, int]:
    """Return where the paragraph names what it is about; its first word where it does not."""
    text, tokens = paragraph["text"], paragraph["tokens"]
    name = without_brackets(paragraph["title"])
    starts, ends = {one[0] for one in tokens}, {one[1] for one in tokens}
    at = text.find(name)
    if at in starts and at + len(name) in ends:
        return at, at + len(name)
    return next(((start, end) for start, end, is_word in tokens if is_word), tuple(tokens[0][:2]))


def has_year(paragraph: Paragraph) -> bool:
    """Return whether the paragraph names a year."""
    return re.search(r"\b(?:1[0-9]{3}|20[0-9]{2})\b", paragraph["text"]) is not None


def year_fact(paragraph: Paragraph) -> list[int]:
    """Return the sentence that names a year, else the first, as a fact."""
    for number, (start, end) in enumerate(paragraph["sentences"]):
        if re.search(r"\b(?:1[0-9]{3}|20[0-9]{2})\b", paragraph["text"][start:end]):
            return [int(paragraph["document"]), number]
    return [int(paragraph["document"]), 0]


def any_words(paragraph: Paragraph, rng: random.Random) -> dict[str, Any]:
    """Return some word of the paragraph as an answer."""
    start, end, _ = rng.choice([one for one in paragraph["tokens"] if one[2]])
    span = {"document": paragraph["document"], "start": start, "end": end}
    return {"type": "span", "spans": [span]}


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


QUOTED = re.compile("“([^”]+)”")


def answer(item: Mapping[str, Any], behaviour: Behaviour, rng: random.Random) -> dict[str, Any]:
    """Return the answer to an item's question, with its facts; careful readers agree."""
    first, second = item["paragraphs"]
    found = _between(item) or _said_of(item) or _yes_no(item)
    if found is None or rng.random() < max(behaviour.wrong_answer, behaviour.nonsense):
        facts = [[int(one["document"]), 0] for one in (first, second)]
        return {"item": item["id"], **any_words(rng.choice((first, second)), rng), "facts": facts}
    given, facts = found
    return {"item": item["id"], "spans": [], **given, "facts": facts}


Answered = tuple[dict[str, Any], list[list[int]]]


def _between(item: Mapping[str, Any]) -> Answered | None:
    """Return what stands between the two pieces that the question quotes."""
    quoted = QUOTED.findall(item["question"])
    if len(quoted) != 2:
        return None
    for here, there in _ways(item):
        start, end = here["text"].find(quoted[0]), -1
        if start >= 0:
            start += len(quoted[0])
            end = here["text"].find(quoted[1], start)
        words = [one for one in here["tokens"] if start <= one[0] and one[1] <= end]
        if words:
            span = {"document": here["document"], "start": words[0][0], "end": words[-1][1]}
            facts = [
                _holding(here, words[0][0]),
                [int(there["document"]), mention(there, here["title"])],
            ]
            return {"type": "span", "spans": [span]}, facts
    return None


def _said_of(item: Mapping[str, Any]) -> Answered | None:
    """Return the name of what the one quoted piece is said of."""
    quoted = QUOTED.findall(item["question"])
    for here, there in _ways(item) if len(quoted) == 1 else ():
        # Its white space was made even.
        pattern = r"\s+".join(map(re.escape, quoted[0].split()))
        match = re.search(pattern, here["text"])
        if match:
            start, end = own_name(here)
            span = {"document": here["document"], "start": start, "end": end}
            facts = [_holding(here, match.start()), [int(there["document"]), 0]]
            return {"type": "span", "spans": [span]}, facts
    return None


def _yes_no(item: Mapping[str, Any]) -> Answered | None:
    if not item["question"].startswith("Do the texts"):
        return None
    given = "yes" if all(map(has_year, item["paragraphs"])) else "no"
    return {"type": given}, [year_fact(one) for one in item["paragraphs"]]


def _ways(item: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    first, second = item["paragraphs"]
    return [(first, second), (second, first)]


def _holding(paragraph: Mapping[str, Any], at: int) -> list[int]:
    """Return the sentence that holds a place, as a fact."""
    ends = [end for _, end in paragraph["sentences"]]
    return [int(paragraph["document"]), sum(end <= at for end in ends[:-1])]
