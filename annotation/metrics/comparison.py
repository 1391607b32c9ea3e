"""Several scores of one file side by side, as a paper prints them."""

from collections.abc import Mapping

from annotation.metrics.result import Result

NONE = "–"


def abreast(what: str, results: Mapping[str, Result]) -> Result:
    """Return one result with a row for each of `results` and a column for each measure.

    what: the heading of the first column. The scores are in `groups` by name; nothing is in
    `official`, because none of them is the one score. A sentence said of several is said once.
    """
    cells = {name: dict(row[:2] for row in result["rows"]) for name, result in results.items()}
    measures = list(dict.fromkeys(measure for row in cells.values() for measure in row))
    return {
        "official": {},
        "groups": {
            name: {**result["official"], **result.get("beside", {})}
            for name, result in results.items()
        },
        "columns": [what, *measures],
        "rows": [
            [name, *(row.get(measure, NONE) for measure in measures)] for name, row in cells.items()
        ],
        "notes": list(dict.fromkeys(note for each in results.values() for note in each["notes"])),
    }
