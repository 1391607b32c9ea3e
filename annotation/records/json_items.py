"""Reads a file in JSON whose items are in one long list, and makes no more of it than is asked for.

What Python makes of a published file is many times as large as the file.
"""

import json
import re
from array import array
from collections.abc import Sequence
from typing import Any, overload

# Strings as a whole, since what is in them is no structure.
_TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)
_LIST_OF_DATA = re.compile(rb"\s*:\s*\[")
DATA = b'"data"'


class Items(Sequence[Any]):
    """The items of a list in JSON, each made anew whenever it is asked for."""

    def __init__(self, content: bytes, bounds: Sequence[int]) -> None:
        """Take over a file; bounds: where each item begins and ends in it, in turn."""
        self._content, self._bounds = content, bounds

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._bounds) // 2

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        """Return one item; raises IndexError, and ValueError for what is no JSON."""
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        # As a list counts: from the end where it is negative, and no further than there are items.
        number = range(len(self))[at]
        return json.loads(self._content[self._bounds[2 * number] : self._bounds[2 * number + 1]])


def load(content: bytes) -> Any:
    """Return what the file holds, as `json.loads` does, raising ValueError where that does.

    But where it is a list, or an object with a list under its key "data", that is of `Items`.
    """
    found = _list_in(content) if json.detect_encoding(content[:4]) == "utf-8" else None
    if found is None:
        return json.loads(content)
    start, end, bounds = found
    items = Items(content, bounds)
    try:
        whole = json.loads(content[:start] + b"[]" + content[end:])
        for _ in items:
            pass
    except ValueError:
        # It tells the place in the whole file.
        return json.loads(content)
    return {**whole, "data": items} if isinstance(whole, dict) else items


def _list_in(content: bytes) -> tuple[int, int, Sequence[int]] | None:
    """Return where the list begins and ends, and the bounds of its items; None for none."""
    start = _start(content)
    if start is None:
        return None
    bounds, depth, begin = array("Q"), 0, start + 1
    for token in _TOKENS.finditer(content, start):
        sign = token[0]
        if sign in (b"[", b"{"):
            depth += 1
        elif sign in (b"]", b"}"):
            depth -= 1
        if depth and not (depth == 1 and sign == b","):
            continue
        # Of an empty list nothing is an item.
        if depth or bounds or content[begin : token.start()].strip():
            bounds.extend((begin, token.start()))
        begin = token.end()
        if not depth:
            return (start, begin, bounds) if sign == b"]" else None
    return None


def _start(content: bytes) -> int | None:
    """Return where the list begins: the file's own, or that of its key data."""
    depth = 0
    for token in _TOKENS.finditer(content):
        sign = token[0]
        if not depth and sign == b"[":
            return token.start()
        if depth == 1 and sign == DATA and (found := _LIST_OF_DATA.match(content, token.end())):
            return found.end() - 1
        depth += (sign in (b"[", b"{")) - (sign in (b"]", b"}"))
    return None
