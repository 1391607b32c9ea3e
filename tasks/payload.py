"""Reads what a page sends: bounded in size and depth, and without what no database can keep."""

import re
from math import isinf
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework.exceptions import APIException, ParseError, UnsupportedMediaType
from rest_framework.utils import json

MAX_BYTES = 1_000_000
MAX_DEPTH = 60
NESTS = (dict, list)
# NUL, other control characters and half an emoji: nobody types them, PostgreSQL refuses them.
UNTYPABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# How they can be written in JSON; a body without any of this holds none of them.
SUSPICIOUS = re.compile(rb"\\[bfu]|\x7f")
UNREADABLE = "This cannot be read; reload the page."


class TooLong(APIException):
    """The body is larger than any honest page's."""

    status_code = 413
    default_detail = "This is too long to be saved: shorten the longest text."


def read_json(request: HttpRequest) -> Any:
    """Return the body of a request, at most a million bytes of JSON, cleaned; {} for an empty one.

    Raises TooLong, ParseError or UnsupportedMediaType.
    """
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BYTES:
        raise TooLong
    body = request.body
    if not body:
        return {}
    if request.content_type != "application/json":
        raise UnsupportedMediaType(request.content_type or "")
    try:
        if SUSPICIOUS.search(body):
            # orjson refuses half an emoji; here it is left out.
            return typable(shallow(json.loads(body, parse_float=_finite)))  # type: ignore[arg-type]
        return shallow(orjson.loads(body))
    except (ValueError, RecursionError):
        raise ParseError(UNREADABLE) from None


def shallow(value: Any) -> Any:
    """Return the value; raises ValueError where it is nested deeper than any honest page's."""
    # What readers of JSON make is of these very types; to ask each value takes half as long again.
    level = [value] if type(value) in NESTS else []
    for _ in range(MAX_DEPTH):
        if not level:
            return value
        level = [
            inner
            for each in level
            for inner in (each.values() if type(each) is dict else each)
            if type(inner) in NESTS
        ]
    raise ValueError("nested too deeply")


def _finite(written: str) -> float:
    number = float(written)
    if isinf(number):
        raise ValueError("beyond all numbers")
    return number


def typable(value: Any) -> Any:
    """Return the value with everything untypable taken out of its texts and names."""
    if isinstance(value, str):
        return UNTYPABLE.sub("", value)
    if isinstance(value, list):
        return [typable(each) for each in value]
    if isinstance(value, dict):
        return {typable(name): typable(each) for name, each in value.items()}
    return value
