"""One thing to mend in what a worker wrote, as a sentence shown beside it."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """`index` is the question's place on the page, None for the whole; a hint never blocks.

    from_reader: a reader answered the question from too little text; what comes of it is counted.
    """

    message: str
    index: int | None = None
    field: str | None = None
    hint: bool = False
    from_reader: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to show it."""
        shown = asdict(self)
        del shown["hint"], shown["from_reader"]
        return shown
