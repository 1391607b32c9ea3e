"""What a worker is told to mend, and what is only advice."""

from collections.abc import Mapping, Sequence
from typing import Any

from collector.protocols.parameters import StageTable
from tasks.work.widgets.problems import Problem


def problems(
    kind: str,
    data: Mapping[str, Sequence[Any]],
    items: Sequence[Mapping[str, Any]],
    table: StageTable,
    parameters: Any,
) -> list[Problem]:
    """Return every problem and hint at once, in the order of the page."""
    found = []
    for index, entry in enumerate(data["entries"]):
        fields = entry["fields"]
        if kind == "text":
            found += _headline(index, fields["headline"], parameters.checks.max_words)
        elif fields["label"] not in (None, "faithful") and not fields["remark"]:
            found.append(Problem("Say what gave it away, if you can.", index, "remark", hint=True))
    return found


def _headline(index: int, words: str, most: int) -> list[Problem]:
    found = []
    number = len(words.split())
    if number > most:
        found.append(Problem(f"It has {number} words: keep {most}.", index, "headline"))
    if words.endswith("."):
        found.append(Problem("Does a headline end with a dot?", index, "headline", hint=True))
    return found
