"""Where in the section answers lie, and how a dialog moves through it (QuAC, Figure 5)."""

from collections import Counter

from annotation.protocols.quac.chunks import BEGINNING, Chunks, Transitions
from annotation.protocols.quac.turns import Turn
from annotation.tables.table import NO_QUESTION, Cell, Table, share


class AnswerPositions:
    """Counts chunks by turn, steps from chunk to chunk, and chunks a dialog touches."""

    def __init__(self, chunks: Chunks) -> None:
        self.chunks = chunks
        # All chunks, that of no answer last.
        self.all = range(chunks.none + 1)
        self.columns = [*(str(chunk + 1) for chunk in range(chunks.number)), "none"]
        self.by_turn: Counter[tuple[int, int]] = Counter()
        self.transitions = Transitions(chunks)
        self.covered: Counter[int] = Counter()
        self._dialog, self._touched = "", set[int]()

    def add(self, turn: Turn) -> None:
        """Count one question's answer; the turns of a dialog come one after the other."""
        chunk = self.chunks.of(turn)
        self.by_turn[turn.number, chunk] += 1
        self.transitions.add(turn)
        if turn.previous is None:
            self._close()
        self._touched |= {chunk} - {self.chunks.none}

    def tables(self) -> list[Table]:
        """Return the parts a (with c as its last row), b and d of Figure 5."""
        self._close()
        return [self._turns(), self._steps(), self._breadth()]

    def _close(self) -> None:
        """Count how many chunks the dialog before touched."""
        if self._touched:
            self.covered[len(self._touched)] += 1
        self._touched = set()

    def _turns(self) -> Table:
        turns = sorted({turn for turn, _ in self.by_turn})
        whole = Counter[int]()
        rows = []
        for turn in turns:
            counts = Counter({chunk: self.by_turn[turn, chunk] for chunk in self.all})
            whole += counts
            rows.append(self._row(str(turn + 1), counts))
        if rows:
            rows.append(self._row("all", whole))
        note = (
            f"The section is cut into {self.chunks.number} chunks of equally many words; each row "
            "makes 100 per cent. "
            "An answer lies where its middle is."
        )
        title = "Chunk of the answer by turn, per cent (Figure 5a, c of the QuAC paper)"
        columns = ["turn", "asked", *self.columns]
        return Table("places", title, columns, rows, note if rows else NO_QUESTION, shaded_from=2)

    def _steps(self) -> Table:
        rows = []
        for came, name in zip((BEGINNING, *self.all), ("beginning", *self.columns), strict=True):
            counts = Counter(
                {to: n for (before, to), n in self.transitions.counts.items() if before == came}
            )
            if counts:
                rows.append(self._row(name, counts))
        title = "From chunk to chunk, per cent (Figure 5b of the QuAC paper)"
        columns = ["after", "asked", *self.columns]
        note = "" if rows else NO_QUESTION
        return Table("transitions", title, columns, rows, note, shaded_from=2)

    def _breadth(self) -> Table:
        whole = self.covered.total()
        rows: list[list[Cell]] = [
            [str(number), self.covered[number], share(self.covered[number], whole)]
            for number in range(1, self.chunks.number + 1)
            if whole
        ]
        note = "Most dialogs of the paper cover three to six chunks." if whole else NO_QUESTION
        title = "Chunks that a dialog covers (Figure 5d of the QuAC paper)"
        return Table("coverage", title, ["chunks", "dialogs", "share"], rows, note)

    def _row(self, name: str, counts: Counter[int]) -> list[Cell]:
        whole = counts.total()
        return [name, whole, *(share(counts[chunk], whole) for chunk in self.all)]
