"""Where in the section answers lie, and how a dialog moves through it (QuAC, Figure 5)."""

from collections import Counter

from annotation.protocols.quac.chunks import BEGINNING, N_CHUNKS, NO_ANSWER, Transitions, chunk_of
from annotation.protocols.quac.turns import Turn
from annotation.reports.table import Cell, Table, share

CHUNKS = range(N_CHUNKS)
COLUMNS = [*(str(chunk + 1) for chunk in CHUNKS), "none"]
NAMES = {BEGINNING: "beginning", NO_ANSWER: "none"}


class Places:
    """Counts chunks by turn, steps from chunk to chunk, and chunks a dialog touches."""

    def __init__(self) -> None:
        self.by_turn: Counter[tuple[int, int]] = Counter()
        self.transitions = Transitions()
        self.covered: Counter[int] = Counter()
        self._dialog, self._touched = "", set[int]()

    def add(self, turn: Turn) -> None:
        """Count one question's answer; the turns of a dialog come one after the other."""
        chunk = chunk_of(turn)
        self.by_turn[turn.number, chunk] += 1
        self.transitions.add(turn)
        if turn.previous is None:
            self._close()
        self._touched |= {chunk} - {NO_ANSWER}

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
            counts = Counter({chunk: self.by_turn[turn, chunk] for chunk in (*CHUNKS, NO_ANSWER)})
            whole += counts
            rows.append(_row(str(turn + 1), counts))
        if rows:
            rows.append(_row("all", whole))
        note = (
            "The section is cut into 12 chunks of equally many words; each row makes 100 per cent. "
            "An answer lies where its middle is."
        )
        title = "Chunk of the answer by turn, per cent (Figure 5a, c)"
        columns = ["turn", "asked", *COLUMNS]
        return Table("places", title, columns, rows, note if rows else "", shaded_from=2)

    def _steps(self) -> Table:
        rows = []
        for came in (BEGINNING, *CHUNKS, NO_ANSWER):
            counts = Counter(
                {to: n for (before, to), n in self.transitions.counts.items() if before == came}
            )
            if counts:
                rows.append(_row(NAMES.get(came, str(came + 1)), counts))
        title = "From chunk to chunk, per cent (Figure 5b)"
        columns = ["after", "asked", *COLUMNS]
        return Table("transitions", title, columns, rows, shaded_from=2)

    def _breadth(self) -> Table:
        whole = self.covered.total()
        rows: list[list[Cell]] = [
            [str(number), self.covered[number], share(self.covered[number], whole)]
            for number in range(1, N_CHUNKS + 1)
            if whole
        ]
        note = "Most dialogs of the paper cover three to six chunks." if whole else ""
        title = "Chunks that a dialog covers (Figure 5d)"
        return Table("coverage", title, ["chunks", "dialogs", "share"], rows, note)


def _row(name: str, counts: Counter[int]) -> list[Cell]:
    whole = counts.total()
    return [name, whole, *(share(counts[chunk], whole) for chunk in (*CHUNKS, NO_ANSWER))]
