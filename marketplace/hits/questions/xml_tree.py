"""Reads small XML documents from strangers into a tree: no document types, entities or depths."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

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
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.buffer_text = True
    top = Node("", "")
    path = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(path) > DEEPEST:
            raise XMLError(f"The elements of the {noun} are nested too deeply.")
        namespace, _, local = name.rpartition(" ")
        node = Node(namespace, local, attributes)
        path[-1].children.append(node)
        path.append(node)

    def text(data: str) -> None:
        path[-1].text += data

    def refuse_doctype(*declaration: object) -> None:
        raise XMLError(f"The {noun} may not declare a document type or entities.")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.CharacterDataHandler = text
    # No document type means no entities, external or exploding.
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(xml.encode(), True)
    except expat.ExpatError as error:
        raise XMLError(f"The {noun} is not well-formed XML: {error}.") from None
    return top.children[0]
