"""What hostile visitors write: into addresses, fields and JSON."""

import json
from collections.abc import Iterable
from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import strategies as some

from marketplace.tests.test_every_operation import structure
from marketplace.wire.calls import OPERATIONS
from marketplace.wire.shapes import service_model

TEXTS = (
    "",
    " ",
    "\0",
    "a\0b",
    "%00",
    "'",
    '"><script>alert(1)</script>',
    "{{ 7 * 7 }}",
    "../../etc/passwd",
    "http://[",
    "http://℀.example/",
    "http://127.0.0.1:99999999/",
    "https://[::1",
    "//evil.example",
    "foo",
    "javascript:alert(1)",
    "x" * 501,
    "x" * 10_001,
    "é" * 300,
    "\ud800",
    "\U0001f600",
    "\u202e\u0000",
    "\ufeff",
    "\r\nSet-Cookie: a=b",
    "-1",
    "0",
    "1",
    "2",
    "٣",
    "²",
    "1e5",
    "1e400",
    "NaN",
    "Infinity",
    "-0",
    "1_000",
    "0x10",
    "9" * 19,
    "9" * 40,
    "9" * 5000,
    "2026-02-30",
    "0001-01-01T00:00",
    "9999-12-31T23:59:59+14:00",
    "None",
    "null",
    "true",
    "[]",
    "{}",
    '{"a": 1}',
    "[" * 3000,
    "=cmd|' /C calc'!A0",
    "%s%n%(x)s",
    "$" * 50,
    "a,b\n1,2\n",
)
NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, -(2**31) - 1, 2**53, 2**63 - 1, 2**63, -(2**63) - 1),
    *(10**40, 0.5, -0.0, 1e308, 1.5e300),
)
text = some.sampled_from(TEXTS) | some.text(max_size=30)
scalar = some.sampled_from([None, True, False, *NUMBERS]) | text
value = some.recursive(
    scalar,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(text, inner, max_size=4),
    max_leaves=8,
)
# Bodies that are no JSON, or JSON of a kind that nobody expects.
RAW = (
    b"",
    b"\0",
    b"\xff\xfe",
    b"{",
    b'{"version": 0, "draft": {"data": "\\b", "ui": 1e400}}',
    b'{"version": 1e400}',
    b'{"version": NaN}',
    b'{"version": -Infinity, "x": "\\ud800"}',
    b'{"version": 0, "version": true}',
    b'{"a": "\\ud800\\udc00\\udfff"}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"draft": ' + b"[" * 900 + b"]" * 900 + b', "version": 0}',
    b'"' + b"x" * 999_990 + b'"',
    b"1" * 20_000,
    b"null",
    b"true",
    b"[]",
    b'"text"',
    b"12",
)


def mutated(whole: Any, values: list[Any], rng: Random) -> Any:
    """Return a copy of plain data with one to three of its parts replaced or taken out."""
    copy = deepcopy(whole)
    for _ in range(rng.randint(1, 3)):
        if places := list(_places(copy)):
            holder, key = rng.choice(places)
            if rng.randrange(5):
                holder[key] = deepcopy(rng.choice(values))
            else:
                del holder[key]
    return copy


def _places(whole: Any) -> Iterable[tuple[Any, Any]]:
    inner = whole.items() if isinstance(whole, dict) else enumerate(whole)
    for key, each in list(inner) if isinstance(whole, dict | list) else []:
        yield whole, key
        if isinstance(each, dict | list):
            yield from _places(each)


def written(whole: Any) -> bytes:
    """Return data as JSON that may hold what no text can: half of a surrogate pair."""
    return json.dumps(whole).encode("utf-8", "surrogatepass")


# In place of ids that only a world has.
PLACES = {
    name: f"@{name}"
    for name in ("HITId", "HITTypeId", "QualificationTypeId", "AssignmentId", "WorkerId")
}


def _operation(name: str) -> some.SearchStrategy[tuple[str, Any]]:
    shape = service_model().operation_model(name).input_shape
    live = {name: [place] for name, place in PLACES.items()}
    return some.tuples(some.just(name), structure(shape, live))


# What one request is made of; everything is drawn, whichever part of it is used.
drawing = some.fixed_dictionaries(
    {
        "way": some.integers(0, 2**16),
        "seed": some.integers(0, 2**32),
        "texts": some.lists(text, min_size=4, max_size=4),
        "values": some.lists(value, min_size=3, max_size=3),
        "raw": some.sampled_from(RAW),
        "operation": some.sampled_from(sorted(OPERATIONS)).flatmap(_operation),
    }
)
