"""Forms without what no person types and PostgreSQL cannot keep."""

from django.http import QueryDict


def without_nul(given: QueryDict) -> QueryDict:
    """Return what was sent without NULs."""
    if not any("\x00" in value for _, values in given.lists() for value in values):
        return given
    cleaned = QueryDict(mutable=True)
    for name, values in given.lists():
        cleaned.setlist(name, [value.replace("\x00", "") for value in values])
    return cleaned
