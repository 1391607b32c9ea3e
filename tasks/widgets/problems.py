"""One thing to mend in what a worker wrote, as a sentence shown beside it."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """`index` is the question's place on the page, None for the whole; a hint never blocks."""

    message: str
    index: int | None = None
    field: str | None = None
    hint: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to show it."""
        shown = asdict(self)
        shown.pop("hint")
        return shown
