"""Checks requests and replies against botocore's own model of the service, both ways."""

import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from marketplace.wire.errors import ServiceFault, WireError

MAX_BITS = {"integer": 31, "long": 63}


@lru_cache(maxsize=1)
def service_model() -> Any:
    """Return botocore's ServiceModel of `mturk`, loaded once."""
    import botocore.session

    return botocore.session.get_session().get_service_model("mturk")


def load_request(operation: str, body: bytes) -> dict[str, Any]:
    """Return the checked parameters of a request, timestamps as aware datetimes.

    Raises WireError `SerializationException` for what is not a JSON object and
    `ParameterValidationError` for what the model does not allow.
    """
    try:
        given = json.loads(body or b"{}", parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise WireError("SerializationException", "The request body is not valid JSON.") from None
    if not isinstance(given, dict):
        raise WireError("SerializationException", "The request body is not a JSON object.")
    shape = service_model().operation_model(operation).input_shape
    parameters = _read(shape, given)
    for problem in problems_of(shape, parameters):
        raise WireError("ParameterValidationError", problem)
    return parameters


def dump_reply(operation: str, result: dict[str, Any]) -> bytes:
    """Return the JSON of a reply; raises ServiceFault when the model does not allow it."""
    shape = service_model().operation_model(operation).output_shape
    if shape is None:
        return b"{}"
    reply = _without_none(result)
    for problem in problems_of(shape, reply):
        raise ServiceFault(f"{operation}: our reply is outside the model: {problem}")
    return json.dumps(_write(shape, reply)).encode()


def problems_of(shape: Any, value: Any) -> Iterator[str]:
    """Yield a sentence for each way in which `value` breaks the model's shape."""
    from botocore.validate import ParamValidator

    report = ParamValidator().validate(value, shape)
    if report.has_errors():
        yield report.generate_report()
        return
    yield from _stricter_problems(shape, value, shape.name)


def _stricter_problems(shape: Any, value: Any, name: str) -> Iterator[str]:
    # ParamValidator knows types, required and unknown members and minima; the rest is ours.
    if shape.type_name == "structure":
        for key, inner in value.items():
            yield from _stricter_problems(shape.members[key], inner, key)
    elif shape.type_name == "list":
        for inner in value:
            yield from _stricter_problems(shape.member, inner, name)
    elif not _is_allowed(shape, value):
        yield f'The value "{value}" is not valid for the parameter {name}.'


def _is_allowed(shape: Any, value: Any) -> bool:
    limits = shape.metadata
    if shape.type_name == "string":
        # A lone surrogate or a NUL cannot be stored, so they are no text.
        if "\x00" in value or not _is_encodable(value):
            return False
        if shape.enum and value not in shape.enum:
            return False
        pattern = limits.get("pattern")
        if pattern and not re.fullmatch(pattern, value, re.ASCII):
            return False
        return bool(limits.get("min", 0) <= len(value) <= limits.get("max", math.inf))
    if shape.type_name in MAX_BITS:
        in_range = abs(value) < 2 ** MAX_BITS[shape.type_name]
        return not isinstance(value, bool) and in_range and value <= limits.get("max", math.inf)
    return True


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read(shape: Any, value: Any) -> Any:
    if isinstance(value, dict) and shape.type_name == "structure":
        return {
            key: _read(shape.members[key], inner) if key in shape.members else inner
            for key, inner in value.items()
            if inner is not None  # JSON null means "not given" to every client there is
        }
    if isinstance(value, list) and shape.type_name == "list":
        return [_read(shape.member, inner) for inner in value]
    if shape.type_name == "timestamp" and value is not None:
        return _read_time(value)
    return value


def _read_time(value: Any) -> datetime:
    from botocore.utils import parse_timestamp

    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(value)
        time = parse_timestamp(value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError, TypeError, RuntimeError):
        problem = f'The value "{value}" is not valid for a timestamp.'
        raise WireError("ParameterValidationError", problem) from None


def _write(shape: Any, value: Any) -> Any:
    if shape.type_name == "structure":
        return {key: _write(shape.members[key], inner) for key, inner in value.items()}
    if shape.type_name == "list":
        return [_write(shape.member, inner) for inner in value]
    if shape.type_name == "timestamp":
        return round(value.timestamp(), 3)
    return value


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_none(inner) for inner in value]
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
