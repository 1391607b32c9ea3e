"""How many questions are about time, told by how they begin (IIRC 2.4)."""

import re
from collections import Counter

from annotation.tables.table import Cell, Table, share

SPAN = "years?|decades?|centur(?:y|ies)|months?|weeks?|days?|hours?|minutes?|seasons?"
MOMENT = "year|decade|century|month|day|date|time|season|era|period"
# The paper names "How old was" and "How long did"; the other openings are ours.
OPENINGS = {
    "how old": r"how (?:much )?(?:old|older|young|younger)\b",
    "how long": r"how (?:much )?(?:long|longer|soon|often|recently)\b",
    "how many years": rf"(?:(?:for|in|after|about) )?how many (?:\w+ )?(?:{SPAN})\b",
    "when": r"(?:since |until |by )?when\b",
    "what year": rf"(?:(?:in|on|by|during|for|from|since|until|at) )?(?:what|which) (?:{MOMENT})\b",
}
PATTERNS = {name: re.compile(pattern) for name, pattern in OPENINGS.items()}


def opening_of(question: str) -> str:
    """Return which of OPENINGS the question begins with; blank if it is not about time."""
    words = question.lower().lstrip("\"'“‘ ")
    return next((name for name, pattern in PATTERNS.items() if pattern.match(words)), "")


class Openings:
    """Counts questions by their first words."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def add(self, question: str) -> None:
        """Count one question."""
        self.found[opening_of(question)] += 1

    def table(self) -> Table:
        """Return the share of questions about time, and of each way to begin one."""
        whole = self.found.total()
        about_time = whole - self.found[""]
        rows: list[list[Cell]] = [["all about time", about_time, share(about_time, whole)]]
        rows += [[name, self.found[name], share(self.found[name], whole)] for name in OPENINGS]
        note = "By the first words, as a question that begins with “how old”. 15 % in the paper."
        columns = ["opening", "questions", "share"]
        return Table("time", "Questions about time (2.4)", columns, rows, note)
