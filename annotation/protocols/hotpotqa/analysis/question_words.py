"""What questions ask, by their central question word and its neighbours (HotpotQA 4, F2)."""

import re
from collections import Counter

from annotation.protocols.hotpotqa.analysis.examples import Example
from annotation.tables.table import NO_QUESTION, Cell, Table, share

WORD = re.compile(r"\w+(?:['’]\w+)?")
WH_WORDS = frozenset("what which who whom whose when where why how".split())
COPULAS = frozenset("is are was were am".split())
AUXILIARIES = frozenset("do does did has have had can could will would should may might".split())
QUESTION_WORDS = WH_WORDS | COPULAS | AUXILIARIES
# Relative clauses begin with question words too; the one that asks stands at the beginning of a
# question, or after all of them.
FIRST_TOKENS = 3
PREPOSITIONS = frozenset("in on at by of for from to with under through during".split())
N_RIGHT = 2
# Ours: what is rarer is the tail.
RAREST_WORD, RAREST_TYPE = 0.01, 0.005
NONE = "none"


def question_type(question: str) -> tuple[str, str]:
    """Return the central question word, and the type: the word with its neighbours.

    Neighbours are two words to the right, and a preposition to the left. A question without any
    question word has the type of its first words.
    """
    words = [match.group().lower() for match in WORD.finditer(question)]
    places = [at for at, word in enumerate(words) if word in QUESTION_WORDS]
    if not places:
        return NONE, " ".join(words[: 1 + N_RIGHT])
    early = [at for at in places if at < FIRST_TOKENS]
    at = early[0] if early else places[-1]
    start = at - 1 if at and words[at - 1] in PREPOSITIONS else at
    return words[at], " ".join(words[start : at + 1 + N_RIGHT])


class QuestionWords:
    """Counts central question words, and the types around each."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.types: Counter[tuple[str, str]] = Counter()

    def add(self, example: Example) -> None:
        """Count one question."""
        word, kind = question_type(example.question)
        self.words[word] += 1
        self.types[word, kind] += 1

    def tables(self) -> list[Table]:
        """Return Figure 2 as a tree: a word, below it its types, the most frequent first."""
        whole = self.words.total()
        rows: list[list[Cell]] = []
        for word, number in _ordered(self.words):
            if number < RAREST_WORD * whole:
                continue
            rows.append([word, "", number, share(number, whole)])
            types = Counter({kind: n for (of, kind), n in self.types.items() if of == word})
            rows += [
                [word, kind, n, share(n, whole)]
                for kind, n in _ordered(types)
                if n >= RAREST_TYPE * whole and n > 1
            ]
        note = (
            f"{len(self.types):,} different types in {whole:,} questions." if whole else NO_QUESTION
        )
        columns = ["central question word", "with its neighbours", "questions", "share"]
        return [
            Table(
                "question_types",
                "Types of questions (Figure 2 of the HotpotQA paper)",
                columns,
                rows,
                note,
            )
        ]


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
