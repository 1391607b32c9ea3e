"""Finds texts by what somebody types into a search, whatever its case, in every script."""

import re

from django.db.models import Q


def holds(field: str, words: str) -> Q:
    """Return the condition that a field holds these words, upper and lower case being the same.

    SQLite's LIKE folds ASCII alone; its regular expressions are Python's and fold all.
    """
    return Q(**{f"{field}__iregex": re.escape(words)})
