"""Reads small XML documents from strangers into a tree: no document types, entities or depths."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
DEEPEST = 20
LONGEST_BYTES = 65_535


class XMLError(ValueError):
    """The document cannot be read; the message says what to change."""


@dataclass
class Node:
    """One element: its namespace, name and attributes, the text and the elements directly in it."""

    namespace: str
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list["Node"] = field(default_factory=list)

    def all(self, name: str) -> Iterator["Node"]:
        """Yield the elements of this name directly inside."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> "Node | None":
        """Return the first element of this name directly inside, or None."""
        return next(self.all(name), None)

    def text_of(self, name: str, default: str = "") -> str:
        """Return the stripped text of the first element of this name directly inside."""
        found = self.first(name)
        return default if found is None else found.text.strip()


def read_xml(xml: str, noun: str) -> Node:
    """Return the root of a document; `noun` names it in the sentences of XMLError."""
    if len(xml.encode()) > LONGEST_BYTES:
        raise XMLError(f"The {noun} is longer than {LONGEST_BYTES} bytes.")
    try:
        # A text, so that it is read as what it is, whatever encoding it declares.
        root = fromstring(xml, forbid_dtd=True)
    except DefusedXmlException:
        # No document type means no entities, external or exploding.
        raise XMLError(f"The {noun} may not declare a document type or entities.") from None
    except ParseError as error:
        raise XMLError(f"The {noun} is not well-formed XML: {error}.") from None
    return _node(root, noun, 1)


def _node(element: Element, noun: str, depth: int) -> Node:
    if depth > DEEPEST:
        raise XMLError(f"The elements of the {noun} are nested too deeply.")
    namespace, _, name = element.tag.rpartition("}")
    text = (element.text or "") + "".join(child.tail or "" for child in element)
    children = [_node(child, noun, depth + 1) for child in element]
    return Node(namespace.removeprefix("{"), name, dict(element.attrib), text, children)
