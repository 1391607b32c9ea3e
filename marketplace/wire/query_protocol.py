"""Reads forms and writes XML, as clients of topics (SNS) speak: botocore's protocol `query`."""

from typing import Any
from urllib.parse import parse_qs
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from marketplace.wire.errors import WireError
from marketplace.wire.shapes import Validator, service_model

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


def load_request(operation: str, body: bytes, service: str) -> dict[str, Any]:
    """Return the checked parameters of a form, its maps and lists left out; raises WireError."""
    shape = service_model(service).operation_model(operation).input_shape
    given: dict[str, Any] = {}
    for name, value in _fields(body).items():
        if name in shape.members:
            is_choice = shape.members[name].type_name == "boolean"
            given[name] = value == "true" if is_choice else value
    Validator().validate(given, shape)
    return given


def dump_reply(operation: str, result: dict[str, Any], request_id: str) -> bytes:
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


def dump_error(error: WireError, request_id: str) -> bytes:
    """Return the XML of a refusal."""
    root = Element("ErrorResponse", xmlns=service_model("sns").metadata["xmlNamespace"])
    node = SubElement(root, "Error")
    SubElement(node, "Type").text = "Sender" if error.status < 500 else "Receiver"
    SubElement(node, "Code").text = CODES.get(error.type_name, error.type_name)
    SubElement(node, "Message").text = error.message
    SubElement(root, "RequestId").text = request_id
    return ElementTree.tostring(root, encoding="utf-8")
