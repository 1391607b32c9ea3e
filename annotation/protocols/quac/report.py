"""The paper's tables: sizes, first words, answers' places, acts, and labels given by hand."""

import heapq
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import combinations, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from annotation.protocols.quac.chunks import BEGINNING, Chunks, Transitions, n_tokens
from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.people import HumanCurves, People, SystemCurves, percent
from annotation.protocols.quac.scoring import read_predictions
from annotation.protocols.quac.turns import MarkedAnswer, Turn, turns_of
from annotation.records.schema import SeedRecord
from annotation.tables.labels import labels_of
from annotation.tables.table import NO_QUESTION, Cell, Table, share
from collector.protocols.parameters import FOLDS
from collector.protocols.stage_tables import read_scheme

if TYPE_CHECKING:
    from annotation.protocols.quac.parameters import Parameters


ALL = "all"
YES_NO = ("y", "n")


class Size:
    """The counts of one fold."""

    def __init__(self) -> None:
        self.questions = self.dialogs = self.yes_no = self.unanswerable = 0
        self.question_tokens = self.section_tokens = self.answer_tokens = self.answers = 0
        self.sections: set[int] = set()

    def add(self, turn: Turn) -> None:
        """Count one question, with its dialog and its section where they are new."""
        self.questions += 1
        self.dialogs += turn.previous is None
        self.yes_no += turn.teacher.affirmation in YES_NO
        self.unanswerable += turn.is_unanswerable
        self.question_tokens += n_tokens(turn.question, turn.language)
        for answer in (turn.teacher, *turn.validators):
            if answer.text != CANNOT_ANSWER:
                self.answers += 1
                self.answer_tokens += n_tokens(answer.text, turn.language)
        known = len(self.sections)
        self.sections.add(hash(turn.section))
        if len(self.sections) > known:
            self.section_tokens += n_tokens(turn.section, turn.language)


class Sizes:
    """Counts Table 2 for each fold and all of them."""

    def __init__(self) -> None:
        self.sizes = {fold: Size() for fold in (*FOLDS, ALL)}

    def add(self, turn: Turn) -> None:
        """Count one question in its fold and in all."""
        for fold in (turn.fold, ALL):
            if fold in self.sizes:
                self.sizes[fold].add(turn)

    def tables(self) -> list[Table]:
        """Return Table 2, a column for each fold."""
        measures = {
            "questions": lambda size: size.questions,
            "dialogs": lambda size: size.dialogs,
            "sections": lambda size: len(size.sections),
            "tokens per section": lambda size: share(size.section_tokens, len(size.sections)),
            "tokens per question": lambda size: share(size.question_tokens, size.questions),
            "tokens per answer": lambda size: share(size.answer_tokens, size.answers),
            "questions per dialog": lambda size: share(size.questions, size.dialogs),
            "% yes or no": lambda size: percent(size.yes_no, size.questions),
            "% no answer": lambda size: percent(size.unanswerable, size.questions),
        }
        rows = [
            [name, *(of(size) for size in self.sizes.values())] for name, of in measures.items()
        ]
        note = (
            "The paper has 14K dialogs with 100K questions of 6.5 tokens and answers of 15. "
            "Answers are those of everybody asked, without the ones that found none."
            if self.sizes[ALL].questions
            else "No dialog is in the dataset yet; the figures come when the first one is kept."
        )
        return [
            Table("size", "Size (Table 2 of the QuAC paper)", ["measure", *self.sizes], rows, note)
        ]


FOLLOW_UP = "y"


class Acts:
    """Counts by turn: yes/no questions, unanswerable ones, those with several answers."""

    def __init__(self) -> None:
        self.counts: dict[int, Counter[str]] = {}

    def add(self, turn: Turn) -> None:
        """Count one question."""
        several = has_several_answers(turn)
        found = {
            "questions": True,
            "yes or no": turn.teacher.affirmation in YES_NO,
            "no answer": turn.is_unanswerable,
            "follow up": turn.continuation == FOLLOW_UP,
            "compared": several is not None,
            "several": bool(several),
        }
        self.counts.setdefault(turn.number, Counter()).update(
            name for name, holds in found.items() if holds
        )

    def tables(self) -> list[Table]:
        """Return Figure 6, a row for each turn and one for all."""
        rows = [_acts_row(str(turn + 1), self.counts[turn]) for turn in sorted(self.counts)]
        if rows:
            whole: Counter[str] = sum(self.counts.values(), Counter())
            rows.append(_acts_row("all", whole))
        shares = ("yes or no", "no answer", "follow up", "several answers")
        columns = ["turn", "questions", *(f"{name} share" for name in shares)]
        note = (
            "Several answers: of the questions with two spans or more, those where two of them do "
            "not touch."
            if rows
            else NO_QUESTION
        )
        return [
            Table(
                "acts",
                "Kinds of questions by turn (Figure 6 of the QuAC paper)",
                columns,
                rows,
                note,
            )
        ]


def has_several_answers(turn: Turn) -> bool | None:
    """Return whether two people marked places that do not touch; None with fewer than two spans.

    Ours: the paper does not say when a question has multiple answers.
    """
    spans = [each for each in (turn.teacher, *turn.validators) if each.start is not None]
    if len(spans) < 2 or turn.is_unanswerable:
        return None
    return any(not _touch(one, other) for one, other in combinations(spans, 2))


def _touch(one: MarkedAnswer, other: MarkedAnswer) -> bool:
    return (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0)


def _acts_row(name: str, counts: Counter[str]) -> list[Cell]:
    whole = counts["questions"]
    shares = [share(counts[each], whole) for each in ("yes or no", "no answer", "follow up")]
    return [name, whole, *shares, share(counts["several"], counts["compared"])]


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


SCHEME = read_scheme(Path(__file__).parent / "labels/questions.toml")
LABELS = tuple(facet.name for facet in SCHEME.facets())
YES = "yes"


def drawn(seeds: Iterable[SeedRecord], number: int, rng: random.Random) -> list[dict[str, str]]:
    """Return one question of each of `number` dialogs with blank labels, in the order drawn.

    The draw depends on the dialogs' ids and `rng` alone, not on their order.
    """
    salt = rng.getrandbits(64)
    found = heapq.nsmallest(number, _one_a_dialog(seeds, salt), key=lambda pair: pair[0])
    return [row for _, row in found]


def counted(rows: Iterable[Mapping[str, str]]) -> Table:
    """Return the shares of Table 3; a row without labels waits.

    Raises ScoreError naming the row for a label that is neither yes nor no.
    """
    counts: Counter[str] = Counter()
    for number, row in enumerate(rows, 1):
        labels = labels_of(row, number, SCHEME.facets())
        if labels is None:
            counts["waiting"] += 1
            continue
        factoid, history, article = (labels[name] == YES for name in LABELS)
        counts["all"] += 1
        counts["factoid"] += factoid
        counts["contextual"] += history or article
        counts["history"] += history
        counts["article"] += article
    return _table(counts)


def _table(counts: Counter[str]) -> Table:
    whole, contextual = counts["all"], counts["contextual"]
    rows: list[list[Cell]] = [
        ["non-factoid", whole - counts["factoid"], share(whole - counts["factoid"], whole)],
        ["contextual", contextual, share(contextual, whole)],
        ["of these, to the dialog", counts["history"], share(counts["history"], contextual)],
        ["of these, to the article", counts["article"], share(counts["article"], contextual)],
    ]
    note = (
        f"{whole} questions are labelled, {counts['waiting']} wait. In the paper half are "
        "non-factoid and 86 % contextual, of these 44 % to the dialog and 61 % to the article."
    )
    title = "Questions labelled by hand (Table 3 of the QuAC paper)"
    return Table("labels", title, ["kind", "questions", "share"], rows, note)


def _one_a_dialog(seeds: Iterable[SeedRecord], salt: int) -> Iterator[tuple[str, dict[str, str]]]:
    for seed in seeds:
        for dialog, group in groupby(turns_of([seed]), key=lambda turn: turn.dialog):
            turns = list(group)
            place = sha256(f"{salt}/{dialog}".encode()).hexdigest()
            yield place, _row_to_label(seed, turns[int(place, 16) % len(turns)])


def _row_to_label(seed: SeedRecord, turn: Turn) -> dict[str, str]:
    payload = seed["payload"]
    said = [f"Student: {each.question} Teacher: {each.teacher.text}" for each in turn.history()]
    return {
        "id": turn.qid,
        "title": str(payload.get("title", "")),
        "section": str(payload.get("heading", "")),
        "before": "\n".join(reversed(said)),
        "question": turn.question,
        "answer": turn.teacher.text,
        **dict.fromkeys(LABELS, ""),
    }


class Analysis(Protocol):
    """Counts while the turns pass, in memory that does not grow with them."""

    def add(self, turn: Turn) -> None:
        """Count one turn."""

    def tables(self) -> list[Table]:
        """Return what was counted."""


def tables(seeds: Iterable[SeedRecord], parameters: "Parameters") -> list[Table]:
    """Return Table 2, Figures 2, 5 and 6, agreement, and Figure 7 for people; one pass."""
    least, chunks = parameters.agreement.min_human_f1, Chunks(parameters.report.chunks)
    curves = HumanCurves(least, chunks)
    parts = (Sizes(), Openings(), AnswerPositions(chunks), Acts(), People(least), curves)
    return _counted(seeds, parts)


def predicted(
    seeds: Iterable[SeedRecord], parameters: "Parameters", predictions: Path
) -> list[Table]:
    """Return the scores of official predictions and Figure 7 beside people's.

    Raises ScoreError naming the file's line.
    """
    least, chunks = parameters.agreement.min_human_f1, Chunks(parameters.report.chunks)
    return _counted(seeds, (SystemCurves(read_predictions(predictions), least, chunks),))


def sample(
    seeds: Iterable[SeedRecord], parameters: "Parameters", rng: random.Random
) -> list[dict[str, str]]:
    """Return the questions that Table 3 wants labelled by hand."""
    return drawn(seeds, parameters.report.hand_labels, rng)


def labelled(rows: Iterable[Mapping[str, str]], parameters: "Parameters") -> list[Table]:
    """Return Table 3 of the sample with its labels; raises ScoreError naming a row."""
    return [counted(rows)]


def _counted(seeds: Iterable[SeedRecord], parts: Iterable[Analysis]) -> list[Table]:
    for turn in turns_of(seeds):
        for part in parts:
            part.add(turn)
    return [table for part in parts for table in part.tables()]
