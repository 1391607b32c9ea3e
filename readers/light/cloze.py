"""Makes questions from plain paragraphs, for a reader to learn from before it sees real ones.

A question asks for a name, date or number of a sentence in the words of this sentence (Lewis et al.
2019, noisy clozes). A phrase such as "which band" replaces the answer, or stands before the rest.
Its noun comes from the first sentence of the answer's own paragraph ("is an American rock band").
If another paragraph names this one, the question describes the subject by that paragraph (two
hops). Two paragraphs with years make a comparison.
"""

import random
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from readers.light.passages import bare_title
from readers.light.words import DATE, NAME, NUMBER, QUOTED, STOP, TOKEN, candidates, tokens
from readers.reader import Example, Text

# All are ours: the shares of the forms of questions, and the numbers of words kept or lost.
COMPARISONS = 0.03
IN_PLACE, IN_FRONT = 0.35, 0.45
BRIDGES = 0.8
LOST, LOST_STOP = 0.12, 0.3
MOST_BEFORE, MOST_AFTER = (5, 14), (2, 10)
FEWEST_TELLING = 3
FREQUENT_NOUN = 3
LONGEST_NAME = 60
# The words of a definition that a question uses; a whole definition usually says too much.
NOUN_WORDS = (1, 1, 1, 2, 2, 3, 9)
_DEFINITION = re.compile(
    r"\b(?:is|was|are|were) (?:an?|the|one of the) (.{3,90}?)(?= (?:who|which|that|whose|from|of|"
    r"in|on|by|for|with|and is|best|known|based|located|formed|founded|released|written|directed|"
    r"published|held|created|at|to|native|situated|developed|produced|starring)\b|[,.;:(])"
)
_BORN = re.compile(r"\((?:[^)]{0,60}\bborn\b|[^)]{0,60}\d{4}\s?[–-])[^)]*\)")
_HE_OR_SHE = re.compile(r"\b(?:he|she|his|her|born)\b")
_YEAR = re.compile(r"\b(?:1[5-9]\d\d|20[0-2]\d)\b")
_RANGE = re.compile(r"\d{4}\s?(?:to|until|and|–|-)\s?\d{4}")
_PLACE = re.compile(r"[A-Z][\w .'-]+, [A-Z][\w .]+")
_PRONOUNS = frozenset("he she it they".split())
_POSSESSIVES = frozenset("his her its their".split())
_AUXILIARIES = ("did", "was", "is", "does", "were", "")
_EARLY = {"person": ("was born first", "is older"), "": ("came first", "was founded first")}
_LATE = {"person": ("was born later", "is younger"), "": ("came later", "is newer")}


@dataclass(frozen=True)
class _Place:
    """A possible answer: code points of a text, its kind, and its weight in the choice."""

    start: int
    end: int
    kind: int
    weight: float


class ClozeQuestions:
    """Makes questions from paragraphs, each of which is about what its title names."""

    def __init__(self, texts: Sequence[Text], rng: random.Random) -> None:
        self.texts, self.rng = [text for text in texts if text.text.strip()], rng
        self.titled = {bare_title(text.title).lower(): text for text in reversed(self.texts)}
        self.definitions = {
            name: found[1].split()
            for name, text in self.titled.items()
            if (found := _DEFINITION.search(text.text))
        }
        counts = Counter(words[-1].lower() for words in self.definitions.values())
        self.nouns = {
            word
            for word, n in counts.items()
            if n >= FREQUENT_NOUN and word.isalpha() and word not in STOP
        }
        self.people = {
            name
            for name, text in self.titled.items()
            if _BORN.search(text.text[:250]) and _HE_OR_SHE.search(text.text.lower())
        }
        self.first_names = {name.split()[0] for name in self.people if name.count(" ") in (1, 2)}
        self._places = lru_cache(maxsize=None)(_places)

    def make(self, number: int) -> list[Example]:
        """Return `number` questions, each with two texts; fewer if the texts yield too few."""
        found: list[Example] = []
        for _ in range(20 * number):
            if len(found) == number or len(self.texts) < 2:
                break
            is_comparison = self.rng.random() < COMPARISONS
            made = self._comparison() if is_comparison else self._cloze()
            if made:
                question, answer, texts = made
                self.rng.shuffle(texts)
                found.append(Example(f"cloze {len(found)}", question, tuple(texts), answer))
        return found

    def _cloze(self) -> tuple[str, str, list[Text]] | None:
        """Return a question from one sentence, with its text and another one."""
        text = self.rng.choice(self.texts)
        places = self._places(text)
        if not places:
            return None
        [place] = self.rng.choices(places, [each.weight for each in places])
        number = bisect_right([end for _, end in text.sentences], place.start)
        if number == len(text.sentences) or place.end > text.sentences[number][1]:
            return None
        subject, other = bare_title(text.title), self.rng.choice(self.texts)
        naming = self._naming.get(subject.lower())
        if naming and self.rng.random() < BRIDGES:
            other, at = self.rng.choice(naming)
            subject = self._described(subject, other, at) or subject
        question = self._question(text, text.sentences[number], place, subject)
        answer = text.text[place.start : place.end]
        if not question or other is text or answer.lower() in question.lower():
            return None
        return question, answer, [text, other]

    @cached_property
    def _naming(self) -> dict[str, list[tuple[Text, _Place]]]:
        """Return, for each title, the other texts that name it, and the places."""
        found: dict[str, list[tuple[Text, _Place]]] = defaultdict(list)
        for text in self.texts:
            for place in self._places(text):
                name = text.text[place.start : place.end].lower()
                if name in self.titled and self.titled[name] is not text:
                    found[name].append((text, place))
        return found

    def _described(self, subject: str, other: Text, place: _Place) -> str:
        """Return the subject as the other text describes it: "the singer that stars in Alien"."""
        definition = self.definitions.get(subject.lower())
        number = bisect_right([end for _, end in other.sentences], place.start)
        if not definition or number == len(other.sentences):
            return ""
        start, end = other.sentences[number]
        before = other.text[start : place.start].split()[-self.rng.randint(3, 9) :]
        words = [*before, *other.text[place.end : end].split()[: self.rng.randint(0, 5)]]
        name = bare_title(other.title)
        words = [name if word.lower() in _PRONOUNS else word for word in words]
        if name.lower() not in " ".join(words).lower():
            words = [name, *words]
        noun = definition[-self.rng.choice(NOUN_WORDS) :]
        link = self.rng.choice(("that", "in", "of", "who", ""))
        return " ".join(each for each in ("the", *noun, link, *words) if each)

    def _question(
        self, text: Text, sentence: tuple[int, int], place: _Place, subject: str
    ) -> str | None:
        """Return the sentence as a question for the text at `place`; None if it is too short."""
        before = TOKEN.findall(text.text[sentence[0] : place.start])
        after = TOKEN.findall(text.text[place.end : sentence[1]])
        asks = self._asks(text.text[place.start : place.end], place.kind, before, after)
        name = bare_title(text.title)
        before = _about(before, name, subject)
        said = " ".join([*before, *after]).lower()
        if subject.lower() not in said and (subject != name or self.rng.random() < 0.55):
            before = [*subject.split(), *before]
        before, after = self._shortened(before, after, subject)
        if sum(word.lower() not in STOP for word in (*before, *after)) < FEWEST_TELLING:
            return None
        form = self.rng.random()
        if form < IN_PLACE:
            words = [*self._noisy(before, 0.5), asks, *self._noisy(after, 0.5)]
        elif form < IN_PLACE + IN_FRONT:
            verb = self.rng.choice(_AUXILIARIES)
            words = [asks, verb, *self._noisy(before), *self._noisy(after)]
        else:
            kept = self._noisy([*before, *after])
            order = sorted(range(len(kept)), key=lambda at: at + self.rng.uniform(0, 4))
            words = [asks, *(kept[at] for at in order)]
        said = re.sub(r" (['’,.])", r"\1", " ".join(word for word in words if word))
        return said[:1].upper() + said[1:] + "?"

    def _shortened(
        self, before: list[str], after: list[str], subject: str
    ) -> tuple[list[str], list[str]]:
        """Return the words near the place, and the subject if the sentence begins with it."""
        n_before, n_after = self.rng.randint(*MOST_BEFORE), self.rng.randint(*MOST_AFTER)
        head = subject.split()
        head = head if before[: len(head)] == head else []
        if len(before) - len(head) > n_before:
            before = [*head, *before[-n_before:]]
        if "," in after[:n_after] and self.rng.random() < 0.6:
            after = after[: after.index(",")]
        kept = [
            [word for word in words if word not in '()[]"“”;:.']
            for words in (before, after[:n_after])
        ]
        while kept[0] and kept[0][-1].lower() in ("the", "a", "an"):
            kept[0].pop()
        return kept[0], kept[1]

    def _noisy(self, words: list[str], share: float = 1.0) -> list[str]:
        """Return the words without some at random; stop words are lost more often."""
        lost = {True: LOST_STOP * share, False: LOST * share}
        return [word for word in words if self.rng.random() >= lost[word.lower() in STOP]]

    def _asks(self, answer: str, kind: int, before: list[str], after: list[str]) -> str:
        """Return the words that ask for the answer, such as "which American band"."""
        last = before[-1].lower() if before else ""
        year, name = re.fullmatch(r"\d{4}", answer), answer.split()
        if year:
            asks = ["what year", "in what year", "which year", "when", "in which year"]
        elif kind == DATE:
            span = _RANGE.search(answer)
            asks = ["what years", "when"] if span else ["when", "when", "what date", "on what date"]
        elif kind == NUMBER:
            counted = after and after[0].islower() and after[0] not in STOP
            asks = ["how many"] if counted else ["how many", "what number", "how much"]
        elif answer.lower() in self.people or (
            len(name) in (2, 3) and name[0].lower() in self.first_names
        ):
            noun = self._noun(answer, last)
            asks = ["who", "who", "who"] + [f"{each} {noun}" for each in ("what", "which") if noun]
        elif noun := self._noun(answer, last):
            asks = [f"what {noun}", f"which {noun}", f"what is the name of the {noun}", "what"]
        elif _PLACE.fullmatch(answer) or last in ("in", "at", "from"):
            asks = ["where", "what place", "what city", "what"]
        else:
            asks = ["what", "what", "which", "who", "what is the name of"]
        return self.rng.choice(asks)

    def _noun(self, answer: str, before: str) -> str:
        """Return a noun for the answer: from its text, the word before it or its last; or blank."""
        own = self.definitions.get(answer.lower())
        if own and own[-1].lower() in self.nouns:
            return " ".join(own[-self.rng.choice(NOUN_WORDS) :])
        last = answer.split()[-1].lower()
        found = [word for word in (before, last, last.removesuffix("s")) if word in self.nouns]
        return found[0] if found and (" " in answer or found[0] == before) else ""

    def _comparison(self) -> tuple[str, str, list[Text]] | None:
        """Return a question which of two people or things of a kind was earlier or later."""
        if not self._dated:
            return None
        kind = self.rng.choice(sorted(self._dated))
        (one, year), (other, other_year) = self.rng.sample(self._dated[kind], 2)
        if year == other_year:
            return None
        asks_early = self.rng.random() < 0.6
        form = self.rng.choice((_EARLY if asks_early else _LATE)[kind if kind == "person" else ""])
        right = one if (year < other_year) == asks_early else other
        names = [bare_title(one.title), bare_title(other.title)]
        self.rng.shuffle(names)
        who = self.rng.choice(("Who", "Which person") if kind == "person" else (f"Which {kind}",))
        question = f"{who} {form}, {names[0]} or {names[1]}?"
        return question, bare_title(right.title), [one, other]

    @cached_property
    def _dated(self) -> dict[str, list[tuple[Text, int]]]:
        """Return texts, each with its first year, by the kind of thing they are about."""
        found: dict[str, list[tuple[Text, int]]] = defaultdict(list)
        for name, text in self.titled.items():
            year = _YEAR.search(text.text[:300])
            noun = self.definitions.get(name, [""])[-1].lower()
            kind = "person" if name in self.people else noun if noun in self.nouns else ""
            if year and kind:
                found[kind].append((text, int(year[0])))
        return {kind: texts for kind, texts in found.items() if len(texts) > 1}


def _about(words: list[str], name: str, subject: str) -> list[str]:
    """Return the words with the subject in place of its name or of a pronoun at the beginning."""
    if words and words[0].lower() in _PRONOUNS:
        return [*subject.split(), *words[1:]]
    if words and words[0].lower() in _POSSESSIVES:
        return [*subject.split(), "'s", *words[1:]]
    if subject != name:
        own = TOKEN.findall(name)
        for at in range(len(words) - len(own) + 1):
            if words[at : at + len(own)] == own:
                return [*words[:at], *subject.split(), *words[at + len(own) :]]
    return words


def _places(text: Text) -> list[_Place]:
    """Return the names, dates, numbers and quotations of a text; parts of names weigh little."""
    spans = tokens(text.text)
    words = [text.text[start:end] for start, end in spans]
    found = []
    for first, last, kind in candidates(words, spans, text.text):
        weight = {DATE: 2.0, NUMBER: 1.0, NAME: 1.5, QUOTED: 1.0}.get(kind, 0.0)
        if kind == NAME:
            beside = [words[at] for at in (first - 1, last) if 0 <= at < len(words)]
            weight = 0.05 if any(word[0].isupper() for word in beside) else weight
            weight = 0.0 if words[first].lower() in STOP and last - first == 1 else weight
        if kind == NUMBER and last - first > 1:
            weight = 0.0
        start, end = spans[first][0], spans[last - 1][1]
        if weight and 1 < end - start + (kind == NUMBER) <= LONGEST_NAME:
            found.append(_Place(start, end, kind, weight))
    return found
