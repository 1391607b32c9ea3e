"""Checks requests and replies against botocore's own model of the service, both ways."""

import json
from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

import orjson

from marketplace.wire.compiled_shapes import Check, MismatchError, Times, compiled, invalid
from marketplace.wire.errors import ServiceFault, WireError

AMOUNTS = ("Reward", "BonusAmount")


@lru_cache(maxsize=1)
def service_model() -> Any:
    """Return botocore's ServiceModel of `mturk`, loaded once."""
    import botocore.session
    from botocore.model import ServiceModel

    loader = botocore.session.get_session().get_component("data_loader")
    description = deepcopy(loader.load_service_model("mturk", "service-2"))
    # The model has the pattern of an entity's id here; what stands there is a name of the
    # requester's own, "Question_2" in the service's documentation.
    described = description["shapes"]["ReviewResultDetail"]["members"]
    described["QuestionId"]["shape"] = "String"
    return ServiceModel(description, "mturk")


@lru_cache(maxsize=1)
def operation_names() -> frozenset[str]:
    """Return the names of the model's operations."""
    return frozenset(service_model().operation_names)


def load_request(operation: str, body: bytes) -> dict[str, Any]:
    """Return the checked parameters of a request, timestamps as aware datetimes.

    Raises WireError `SerializationException` for what is not a JSON object and
    `ParameterValidationError` for what the model does not allow.
    """
    try:
        given = READER.decode(body.decode() or "{}")
    except (ValueError, RecursionError):
        raise WireError("SerializationException", "The request body is not valid JSON.") from None
    if not isinstance(given, dict):
        raise WireError("SerializationException", "The request body is not a JSON object.")
    for name in AMOUNTS:
        # The model wants a digit before the point; the service took .20, as published code sends.
        if isinstance(given.get(name), str) and given[name].startswith("."):
            given[name] = f"0{given[name]}"
    try:
        parameters: dict[str, Any] = _request_check(operation)(given)
    except MismatchError as error:
        raise WireError("ParameterValidationError", str(error)) from None
    return parameters


def dump_reply(operation: str, result: dict[str, Any]) -> bytes:
    """Return the JSON of a reply; raises ServiceFault when the model does not allow it."""
    try:
        return orjson.dumps(_reply_check(operation)(result))
    except (MismatchError, TypeError) as error:
        problem = f"{operation}: our reply is outside the model: {error}"
        raise ServiceFault(problem) from None


@cache
def _request_check(operation: str) -> Check:
    shape = service_model().operation_model(operation).input_shape
    return compiled(shape, "input", Times(_read_time))


@cache
def _reply_check(operation: str) -> Check:
    shape = service_model().operation_model(operation).output_shape
    return (
        compiled(shape, "output", Times(_write_time, _write_times))
        if shape is not None
        else lambda result: {}
    )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


READER = json.JSONDecoder(parse_constant=_refuse_constant)


def _read_time(value: Any) -> datetime:
    from botocore.utils import parse_timestamp

    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(value)
        time = parse_timestamp(value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError, TypeError, RuntimeError):
        raise invalid(value, "timestamp") from None


def _write_time(value: Any) -> float:
    # The database has turned the times of long lists into epoch milliseconds already.
    if type(value) is int:
        return value / 1000
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise invalid(value, "timestamp")
    return round(value.timestamp(), 3)


def _write_times(values: Sequence[Any]) -> list[float] | None:
    return [value / 1000 for value in values] if set(map(type, values)) == {int} else None
