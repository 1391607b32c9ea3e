"""How many dialogs there are and how long everything in them is (QuAC 3, Table 2)."""

from functools import lru_cache

from annotation.protocols.quac.file_format import CANNOT_ANSWER
from annotation.protocols.quac.turns import Turn
from annotation.tables.table import Table, share
from collector.ingest.segmentation import n_tokens as count_of_tokens
from collector.protocols.parameters import FOLDS

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


@lru_cache(maxsize=1024)
def n_tokens(text: str, language: str) -> int:
    """Return the number of tokens, as the limit on an answer's length counts them."""
    return count_of_tokens(text, language)


def percent(part: float, whole: int) -> float | None:
    """Return the share in per cent, None where there is no whole."""
    found = share(part, whole)
    return None if found is None else 100 * found
