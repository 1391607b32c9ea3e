"""Turns botocore's shapes into closures that check a value and copy it, once per operation."""

import re
import sys
from collections.abc import Callable
from typing import Any

Check = Callable[[Any], Any]
MAX_BITS = {"integer": 31, "long": 63}


class MismatchError(ValueError):
    """A value is outside the model; the message says where and how."""


class Columns(dict[str, Any]):
    """A list of structures, member by member: a list of values, or one value that all share.

    None stands where a structure lacks the member. A hundred rows are checked like this in half
    the time that they take one by one.
    """


def compiled(shape: Any, name: str, read_time: Check) -> Check:
    """Return a function from a value to its checked copy, members that are None left out.

    `read_time` turns a timestamp into what the copy holds. The function raises MismatchError on
    anything the shape does not allow: types, required and unknown members, enum, pattern, bounds.
    """
    kind = shape.type_name
    if kind == "timestamp":
        return read_time
    if kind == "structure":
        return _structure(shape, name, read_time)
    if kind == "list" and shape.member.type_name == "structure":
        return _structures(shape.member, name, read_time)
    if kind == "list":
        return _list(compiled(shape.member, name, read_time), name)
    if kind == "string":
        return _string(shape, name)
    if kind == "boolean":
        return _boolean(name)
    if kind in MAX_BITS:
        return _number(shape, name)
    raise NotImplementedError(f"{name} is of the type {kind}, which the model never had.")


def invalid(value: Any, name: str) -> MismatchError:
    """Return the refusal of one value, worded as the service did."""
    return MismatchError(f'The value "{value}" is not valid for the parameter {name}.')


def _structure(shape: Any, name: str, read_time: Check) -> Check:
    members, required = _members(shape, read_time), frozenset(shape.required_members)

    def check(value: Any) -> Any:
        if type(value) is not dict:
            raise invalid(value, name)
        # JSON null means "not given" to every client there is.
        try:
            copy = {key: members[key](inner) for key, inner in value.items() if inner is not None}
        except KeyError as error:
            raise MismatchError(f"Unknown parameter {error} in {name}.") from None
        if required:
            _require(required, copy, name)
        return copy

    return check


def _structures(shape: Any, name: str, read_time: Check) -> Check:
    members, required = _members(shape, read_time), frozenset(shape.required_members)
    one_by_one = _list(_structure(shape, name, read_time), name)

    def check(value: Any) -> Any:
        if type(value) is not Columns:
            return one_by_one(value)
        copies: list[dict[str, Any]] = [{} for _ in next(iter(value.values()), ())]
        for key, given in value.items():
            if key not in members:
                raise MismatchError(f"Unknown parameter '{key}' in {name}.")
            member = members[key]
            for copy, inner in zip(copies, given, strict=True):
                if inner is not None:
                    copy[key] = member(inner)
        for copy in copies if required else ():
            _require(required, copy, name)
        return copies

    return check


def _members(shape: Any, read_time: Check) -> dict[str, Check]:
    return {key: compiled(inner, key, read_time) for key, inner in shape.members.items()}


def _require(required: frozenset[str], copy: dict[str, Any], name: str) -> None:
    if not required <= copy.keys():
        missing = ", ".join(sorted(required - copy.keys()))
        raise MismatchError(f"Missing required parameter in {name}: {missing}.")


def _list(member: Check, name: str) -> Check:
    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise invalid(value, name)
        return [member(inner) for inner in value]

    return check


def _string(shape: Any, name: str) -> Check:
    limits = shape.metadata
    least, most = limits.get("min", 0), limits.get("max", sys.maxsize)
    if "pattern" in limits:
        # A pattern looks at ASCII alone: the model's digits and letters are those of its ids.
        return _matching(re.compile(limits["pattern"], re.ASCII).fullmatch, least, most, name)
    if shape.enum:
        return _one_of(frozenset(shape.enum), name)
    return _text(least, most, name)


def _matching(match: Callable[[str], Any], least: int, most: int, name: str) -> Check:
    def check(value: Any) -> Any:
        if isinstance(value, str) and least <= len(value) <= most and match(value) is not None:
            return value
        raise invalid(value, name)

    return check


def _one_of(allowed: frozenset[str], name: str) -> Check:
    def check(value: Any) -> Any:
        if isinstance(value, str) and value in allowed:
            return value
        raise invalid(value, name)

    return check


def _text(least: int, most: int, name: str) -> Check:
    def check(value: Any) -> Any:
        if not isinstance(value, str) or not least <= len(value) <= most:
            raise invalid(value, name)
        # A lone surrogate or a NUL cannot be stored, so they are no text.
        if "\x00" in value or not (value.isascii() or _is_encodable(value)):
            raise invalid(ascii(value), name)
        return value

    return check


def _boolean(name: str) -> Check:
    def check(value: Any) -> Any:
        if value is not True and value is not False:
            raise invalid(value, name)
        return value

    return check


def _number(shape: Any, name: str) -> Check:
    bound = 2 ** MAX_BITS[shape.type_name]
    least = shape.metadata.get("min", -bound + 1)
    most = shape.metadata.get("max", bound - 1)

    def check(value: Any) -> Any:
        if type(value) is not int or not least <= value <= most:
            raise invalid(value, name)
        return value

    return check


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
