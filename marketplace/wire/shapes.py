"""Checks requests against botocore's own models of the services; reads and writes JSON and XML."""

import json
import re
import sys
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qs
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import orjson
from botocore.utils import parse_timestamp
from botocore.validate import ParamValidator, ValidationErrors

from marketplace.wire.calls import WireError

AMOUNTS = ("Reward", "BonusAmount")
# ours: as long as the model's MessageText; the model itself says nothing of reasons.
LONGEST_REASON = 4096
MAX_BITS = {"integer": 31, "long": 63}


@cache
def service_model(service: str = "mturk") -> Any:
    """Return botocore's ServiceModel of a service, loaded once."""
    import botocore.session

    return botocore.session.get_session().get_service_model(service)


@cache
def operation_names(service: str = "mturk") -> frozenset[str]:
    """Return the names of the model's operations."""
    return frozenset(service_model(service).operation_names)


class FirstError(ValidationErrors):
    """Refuses a request at the validator's first finding, worded as the service did."""

    def report(self, name: str, reason: str, **found: Any) -> None:
        """Raise WireError `ParameterValidationError` that says where and how."""
        where = name.lstrip(".") or "input"
        if reason == "missing required field":
            problem = f"Missing required parameter in {where}: {found['required_name']}."
        elif reason == "unknown field":
            problem = f"Unknown parameter {found['unknown_param']!r} in {where}."
        else:
            # A message with NUL or half of a surrogate pair could be stored nowhere.
            value = str(found["param"])
            shown = value if value.isprintable() else ascii(value)
            problem = f'The value "{shown}" is not valid for the parameter {where}.'
        raise WireError("ParameterValidationError", problem)


class Validator(ParamValidator):
    """botocore's validator, which leaves max, enum and pattern to the service, with these three."""

    def validate(self, params: Any, shape: Any) -> None:
        """Raise WireError for the first value that the shape does not allow."""
        self._validate(params, shape, FirstError(), "")

    def _shape_has_constraints(self, shape: Any) -> bool:
        return True

    def _validate_string(self, value: Any, shape: Any, errors: Any, name: str) -> None:
        limits = shape.metadata
        if not (
            isinstance(value, str)
            and limits.get("min", 0) <= len(value) <= limits.get("max", sys.maxsize)
            and (not shape.enum or value in shape.enum)
            # The model's ids are ASCII.
            and ("pattern" not in limits or re.fullmatch(limits["pattern"], value, re.ASCII))
            # No database takes NUL or half of a surrogate pair.
            and "\0" not in value
            and value.encode(errors="replace").decode() == value
        ):
            errors.report(name, "invalid value", param=value)

    def _validate_integer(self, value: Any, shape: Any, errors: Any, name: str) -> None:
        bound = 2 ** MAX_BITS[shape.type_name]
        least, most = shape.metadata.get("min", 1 - bound), shape.metadata.get("max", bound - 1)
        # True is an integer of Python's.
        if type(value) is not int or not least <= value <= most:
            errors.report(name, "invalid value", param=value)

    _validate_long = _validate_integer

    def _validate_timestamp(self, value: Any, shape: Any, errors: Any, name: str) -> None:
        try:
            read_time(value)
        except (ValueError, OverflowError, OSError, TypeError, RuntimeError):
            errors.report(name, "invalid value", param=value)


def load_request(operation: str, body: bytes, service: str = "mturk") -> dict[str, Any]:
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
        if isinstance(given.get(name), str) and re.match(r"\.[0-9]", given[name]):
            given[name] = f"0{given[name]}"
    Validator().validate(given, service_model(service).operation_model(operation).input_shape)
    if len(given.get("Reason", "")) > LONGEST_REASON:
        raise WireError(
            "ParameterValidationError", f"Reason is longer than {LONGEST_REASON} characters."
        )
    # The model's only time that requests give.
    if "ExpireAt" in given:
        given["ExpireAt"] = read_time(given["ExpireAt"])
    return given


def read_time(value: Any) -> datetime:
    """Return the time that a client gave as epoch seconds or as text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    time: datetime = parse_timestamp(value)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)


def dump_reply(result: dict[str, Any]) -> bytes:
    """Return the JSON of a reply, members that are None left out and times as epoch seconds."""
    return orjson.dumps(_given(result), _epoch, orjson.OPT_PASSTHROUGH_DATETIME)


def _given(members: dict[str, Any]) -> dict[str, Any]:
    """Return a structure of the model without its members that are None."""
    found = {name: value for name, value in members.items() if value is not None}
    for name, value in found.items():
        if isinstance(value, dict):
            found[name] = _given(value)
        elif isinstance(value, list):
            found[name] = [_given(one) if isinstance(one, dict) else one for one in value]
    return found


def _epoch(value: Any) -> float:
    return round(value.timestamp(), 3)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


# JSON null means "not given" to every client there is.
READER = json.JSONDecoder(
    object_hook=lambda pairs: {name: one for name, one in pairs.items() if one is not None},
    parse_constant=_refuse_constant,
)


# What refusals of all services are called in this one's model.
CODES = {"ParameterValidationError": "InvalidParameter", "RequestError": "InvalidParameter"}


def action_of(body: bytes) -> str:
    """Return the name of the operation that a form asks for, "" if it names none."""
    return _fields(body).get("Action", "")


def _fields(body: bytes) -> dict[str, str]:
    try:
        given = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {}
    return {name: values[0] for name, values in given.items()}


def load_form(operation: str, body: bytes, service: str) -> dict[str, Any]:
    """Return the checked parameters of a form, its maps and lists left out; raises WireError."""
    shape = service_model(service).operation_model(operation).input_shape
    given: dict[str, Any] = {}
    for name, value in _fields(body).items():
        if name in shape.members:
            is_choice = shape.members[name].type_name == "boolean"
            given[name] = value == "true" if is_choice else value
    Validator().validate(given, shape)
    return given


def dump_xml_reply(operation: str, result: dict[str, Any], request_id: str) -> bytes:
    """Return the XML of a reply, members that are None left out."""
    model = service_model("sns")
    root = Element(f"{operation}Response", xmlns=model.metadata["xmlNamespace"])
    shape = model.operation_model(operation).output_shape
    if shape is not None:
        _write(SubElement(root, f"{operation}Result"), shape, result)
    SubElement(SubElement(root, "ResponseMetadata"), "RequestId").text = request_id
    return ElementTree.tostring(root, encoding="utf-8")


def _write(node: Element, shape: Any, value: Any) -> None:
    if shape.type_name == "structure":
        for name, member in value.items():
            if member is not None:
                _write(SubElement(node, name), shape.members[name], member)
    elif shape.type_name == "list":
        for one in value:
            _write(SubElement(node, "member"), shape.member, one)
    elif shape.type_name == "map":
        for name, one in value.items():
            entry = SubElement(node, "entry")
            SubElement(entry, "key").text = name
            SubElement(entry, "value").text = one
    else:
        node.text = value


def dump_xml_error(error: WireError, request_id: str) -> bytes:
    """Return the XML of a refusal."""
    root = Element("ErrorResponse", xmlns=service_model("sns").metadata["xmlNamespace"])
    node = SubElement(root, "Error")
    SubElement(node, "Type").text = "Sender" if error.status < 500 else "Receiver"
    SubElement(node, "Code").text = CODES.get(error.type_name, error.type_name)
    SubElement(node, "Message").text = error.message
    SubElement(root, "RequestId").text = request_id
    return ElementTree.tostring(root, encoding="utf-8")
