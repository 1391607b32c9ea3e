"""With which words questions begin (QuAC, Figure 2)."""

import re
from collections import Counter

from annotation.protocols.quac.turns import Turn
from annotation.tables.table import NO_QUESTION, Cell, Table, share

WORD = re.compile(r"\w+(?:['’]\w+)?")
# Ours: what is rarer is the tail, which the paper leaves out too (its footnote 10).
RAREST_WORD, RAREST_PAIR = 0.01, 0.005


class Openings:
    """Counts the first word of each question, and its first two."""

    def __init__(self) -> None:
        self.first: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()

    def add(self, turn: Turn) -> None:
        """Count one question."""
        words = [match.group().lower() for match in WORD.finditer(turn.question)]
        self.first[words[0] if words else ""] += 1
        if len(words) > 1:
            self.pairs[words[0], words[1]] += 1

    def tables(self) -> list[Table]:
        """Return the tree: a word, and below it what follows it, the most frequent first."""
        whole = self.first.total()
        rows: list[list[Cell]] = []
        for word, number in _ordered(self.first):
            if not word or number < RAREST_WORD * whole:
                continue
            rows.append([word, "", number, share(number, whole)])
            below = {second: n for (first, second), n in self.pairs.items() if first == word}
            rows += [
                [word, second, n, share(n, whole)]
                for second, n in _ordered(Counter(below))
                if n >= RAREST_PAIR * whole and n > 1
            ]
        shown = sum(int(row[2] or 0) for row in rows if not row[1])
        note = (
            f"{len(self.first):,} different first words; those shown open {shown:,} of {whole:,} "
            "questions."
            if whole
            else NO_QUESTION
        )
        columns = ["first word", "second word", "questions", "share"]
        return [
            Table(
                "openings", "How questions begin (Figure 2 of the QuAC paper)", columns, rows, note
            )
        ]


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
