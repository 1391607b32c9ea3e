"""Mends what a clock that was ahead has written: nothing is put off for longer than it can be."""

from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, Model, Q, QuerySet, Value

# So far two machines' clocks may differ, and nobody mends anything.
SKEW = timedelta(minutes=1)


def over(field: str, now: datetime, longest: timedelta) -> Q:
    """Return what finds rows whose time has come, or is further ahead than `longest`."""
    return Q(**{f"{field}__lte": now}) | Q(**{f"{field}__gt": now + longest + SKEW})


def pull_back(rows: QuerySet[Model], began: str, now: datetime, *others: str) -> int:
    """Have what is said to begin later begin now; returns how many rows.

    began: the field of a time that is past when it is written. others: those that were reckoned
    from it, and keep their distance.
    """
    ahead = F(began) - Value(now, DateTimeField())
    moved = {name: ExpressionWrapper(F(name) - ahead, DateTimeField()) for name in others}
    return rows.filter(**{f"{began}__gt": now + SKEW}).update(**moved, **{began: now})
