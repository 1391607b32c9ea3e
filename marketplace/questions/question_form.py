"""A QuestionForm, of a qualification test or a HIT: read from XML, and what a worker sent."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

import nh3
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from marketplace.questions.answers import GivenAnswer

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


NAMESPACE = re.compile(re.escape(SCHEMAS) + r"\d{4}-\d{2}-\d{2}/QuestionForm\.xsd")
OTHER = "other"
KEPT = frozenset(
    "a b big blockquote br cite code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre q s "
    "small span strong sub sup table tbody td tfoot th thead tr u ul".split()
)
# What is in these is no text.
DROPPED = frozenset({"script", "style", "iframe", "object", "title"})
_cleaner = nh3.Cleaner(
    tags=set(KEPT),
    clean_content_tags=set(DROPPED),
    attributes={"a": {"href"}},
    set_tag_attribute_values={"a": {"target": "_blank"}},
    url_schemes={"https"},
    link_rel="noopener noreferrer",
)


class QuestionFormError(ValueError):
    """The form cannot be shown; the message says what to change."""


@dataclass(frozen=True)
class Part:
    """A piece of what a question says: `kind` is title, text, list, image or html."""

    kind: str
    text: str = ""
    items: tuple[str, ...] = ()
    address: str = ""


@dataclass(frozen=True)
class Choice:
    """One selection: its identifier and what it says."""

    identifier: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Text:
    """A free text; lengths in characters, numbers inclusive.

    `pattern` is for the browser alone: a stranger's regular expression is not run by the server.
    """

    n_lines: int = 1
    default: str = ""
    least_length: int = 0
    most_length: int | None = None
    is_numeric: bool = False
    least: float | None = None
    most: float | None = None
    pattern: str = ""
    pattern_problem: str = ""

    @property
    def kind(self) -> str:
        """Return the name the template knows this answer by."""
        return "text"


@dataclass(frozen=True)
class Selection:
    """One choice or several, `style` as suggested (radiobutton, checkbox, dropdown, list …)."""

    choices: tuple[Choice, ...]
    least: int = 1
    most: int = 1
    style: str = ""
    has_other: bool = False

    @property
    def kind(self) -> str:
        """Return the name the template knows this answer by: radio, checkbox or dropdown."""
        if self.most != 1:
            return "checkbox"
        return "dropdown" if self.style in ("dropdown", "combobox", "list") else "radio"


@dataclass(frozen=True)
class Question:
    """One question of a form; its answer is either text or a selection."""

    identifier: str
    name: str
    is_required: bool
    parts: tuple[Part, ...]
    answer: Text | Selection


@dataclass(frozen=True)
class QuestionForm:
    """A whole form, in order: what is said before the questions, and the questions."""

    overview: tuple[Part, ...] = ()
    questions: tuple[Question, ...] = field(default=())


def parse(xml: str) -> QuestionForm:
    """Return the form; raises QuestionFormError, also for what cannot be shown here."""
    try:
        root = read_xml(xml, "Test")
    except XMLError as error:
        raise QuestionFormError(str(error)) from None
    return form_in(root)


def form_in(root: Node) -> QuestionForm:
    """Return the form in a document that was read; raises QuestionFormError as `parse` does."""
    if root.name != "QuestionForm" or not NAMESPACE.fullmatch(root.namespace):
        raise QuestionFormError(
            f'Begin the form with <QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">.'
        )
    overview: list[Part] = []
    questions: list[Question] = []
    for child in root.children:
        if child.name == "Overview":
            overview += _parts(child)
        elif child.name == "Question":
            questions.append(_question(child))
        else:
            raise QuestionFormError(f"Unknown element {child.name} in QuestionForm.")
    identifiers = [question.identifier for question in questions]
    if not questions or len(set(identifiers)) < len(identifiers):
        raise QuestionFormError("Give each Question of the form a QuestionIdentifier of its own.")
    return QuestionForm(tuple(overview), tuple(questions))


def answers_of(
    form: QuestionForm, sent: Mapping[str, list[str]]
) -> tuple[list[GivenAnswer], list[str]]:
    """Return what was answered, in order, and a sentence for each thing to mend (none: complete).

    `sent` has the form's fields by QuestionIdentifier, `<identifier>.other` beside a selection.
    """
    given, problems = [], []
    for question in form.questions:
        values = [value for value in sent.get(question.identifier, []) if value != ""]
        name = question.name or question.identifier
        if isinstance(question.answer, Text):
            text = "\n".join(values)
            given.append(GivenAnswer(question.identifier, text=text))
            problem = _problem_with_text(question.answer, text) if text else ""
        else:
            known = {choice.identifier for choice in question.answer.choices}
            chosen = tuple(value for value in dict.fromkeys(values) if value in known)
            other = "".join(sent.get(f"{question.identifier}.{OTHER}", []))
            other = other if question.answer.has_other else ""
            given.append(GivenAnswer(question.identifier, selections=chosen, other=other))
            n_chosen, problem = len(chosen) + bool(other), ""
            if n_chosen < question.answer.least:
                problem = _("choose at least %(n)s.") % {"n": question.answer.least}
            elif n_chosen > question.answer.most:
                problem = _("choose at most %(n)s.") % {"n": question.answer.most}
        is_empty = not any(values) and not given[-1].other
        if is_empty:
            problem = _("answer it.") if question.is_required else ""
        if problem:
            problems.append(f"{name}: {problem}")
    return given, problems


def _problem_with_text(answer: Text, text: str) -> str:
    if answer.is_numeric:
        try:
            number = float(text)
        except ValueError:
            return _("write a number.")
        least, most = answer.least, answer.most
        # Written so that what is no number at all is outside, too.
        is_enough = number >= (float("-inf") if least is None else least)
        if not (is_enough and number <= (float("inf") if most is None else most)):
            ends = {"least": _plain(least), "most": _plain(most)}
            if least is None:
                return _("write a number of %(most)s at most.") % ends
            if most is None:
                return _("write a number of %(least)s or more.") % ends
            return _("write a number from %(least)s to %(most)s.") % ends
    if len(text) < answer.least_length:
        return _("write at least %(n)s characters.") % {"n": answer.least_length}
    if answer.most_length is not None and len(text) > answer.most_length:
        return _("write at most %(n)s characters.") % {"n": answer.most_length}
    return ""


def _plain(number: float | None) -> str:
    """Return a bound as people of the page's language write it: 5 and not 5.0."""
    if number is None:
        return ""
    return number_format(int(number) if number.is_integer() else number)


def _question(node: Node) -> Question:
    identifier = node.text_of("QuestionIdentifier")
    content, answer = node.first("QuestionContent"), node.first("AnswerSpecification")
    if not identifier or content is None or answer is None or len(answer.children) != 1:
        raise QuestionFormError(
            "Each Question needs a QuestionIdentifier, a QuestionContent and one kind of answer in "
            "its AnswerSpecification."
        )
    [specification] = answer.children
    return Question(
        identifier=identifier,
        name=node.text_of("DisplayName"),
        is_required=node.text_of("IsRequired", "false").lower() in ("true", "1"),
        parts=tuple(_parts(content)),
        answer=_answer(specification),
    )


def _answer(node: Node) -> Text | Selection:
    if node.name == "FreeTextAnswer":
        bounds = node.first("Constraints") or Node("", "")
        number, length = bounds.first("IsNumeric"), bounds.first("Length")
        shape = bounds.first("AnswerFormatRegex")
        numbers = number.attributes if number else {}
        lengths = length.attributes if length else {}
        shapes = shape.attributes if shape else {}
        try:
            return Text(
                n_lines=max(1, min(50, int(node.text_of("NumberOfLinesSuggestion", "1")))),
                default=node.text_of("DefaultText"),
                least_length=int(lengths.get("minLength", 0)),
                most_length=int(lengths["maxLength"]) if "maxLength" in lengths else None,
                is_numeric=number is not None,
                least=float(numbers["minValue"]) if "minValue" in numbers else None,
                most=float(numbers["maxValue"]) if "maxValue" in numbers else None,
                pattern=shapes.get("regex", ""),
                pattern_problem=shapes.get("errorText", ""),
            )
        except ValueError:
            raise QuestionFormError(
                "The Constraints of a FreeTextAnswer hold no numbers."
            ) from None
    if node.name == "SelectionAnswer":
        selections = node.first("Selections") or Node("", "")
        choices = tuple(
            Choice(one.text_of("SelectionIdentifier"), tuple(_parts(one)))
            for one in selections.all("Selection")
        )
        identifiers = {choice.identifier for choice in choices}
        if not choices or "" in identifiers or len(identifiers) < len(choices):
            raise QuestionFormError(
                "A SelectionAnswer needs Selections, each with a SelectionIdentifier of its own."
            )
        try:
            least = int(node.text_of("MinSelectionCount", "1"))
            most = int(node.text_of("MaxSelectionCount", "1"))
        except ValueError:
            raise QuestionFormError(
                "MinSelectionCount and MaxSelectionCount are numbers."
            ) from None
        has_other = selections.first("OtherSelection") is not None
        if not 0 <= least <= most <= len(choices) + has_other:
            raise QuestionFormError(
                "A SelectionAnswer cannot be answered with that many selections."
            )
        style = node.text_of("StyleSuggestion").lower()
        return Selection(choices, least, most, style, has_other)
    raise QuestionFormError(
        f"A QuestionForm cannot ask with {node.name} here; use FreeTextAnswer or SelectionAnswer."
    )


def _parts(node: Node) -> Iterator[Part]:
    for child in node.children:
        if child.name in ("Title", "Text"):
            yield Part(child.name.lower(), text=child.text.strip())
        elif child.name == "List":
            yield Part("list", items=tuple(item.text.strip() for item in child.all("ListItem")))
        elif child.name == "FormattedContent":
            yield Part("html", text=clean_html(child.text))
        elif child.name == "Binary":
            yield _binary(child)
        elif child.name not in ("SelectionIdentifier",):
            raise QuestionFormError(
                f"A QuestionForm cannot show {child.name} here; use Title, Text, List, Binary "
                "images or FormattedContent."
            )


def _binary(node: Node) -> Part:
    kind = node.first("MimeType")
    address = node.text_of("DataURL")
    if kind is None or kind.text_of("Type") != "image" or not address.startswith("https://"):
        raise QuestionFormError("A Binary has to be an image with an https:// DataURL.")
    return Part("image", text=node.text_of("AltText"), address=address)


def clean_html(html: str) -> str:
    """Return HTML of harmless elements alone, well nested, links only to https:// addresses."""
    return _cleaner.clean(html)
