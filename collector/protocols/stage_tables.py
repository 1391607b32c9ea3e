"""What the table of a stage says, by the kind of stage, and the labels that a stage may ask for."""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from collector.models import Collection
from collector.protocols.creation import parameters_of
from collector.protocols.loading import (
    SCHEMES,
    Protocol,
    ProtocolError,
    all_protocols,
    get_protocol,
    wrong_values,
)
from collector.protocols.parameters import (
    AtMost,
    BonusesTable,
    Parameters,
    Redundancy,
    StageTable,
    Table,
)


class QuestionTable(StageTable):
    """A question HIT (IIRC 2.2)."""

    questions_per_hit: int = Field(ge=1, le=1000)
    """Questions that one HIT asks for."""
    multi_link_questions: int = Field(ge=0)
    """How many of them must need several links."""
    multi_link_min_links: int = Field(ge=2)
    """How many links such a question needs."""
    AT_MOST = (AtMost("multi_link_questions", "questions_per_hit"),)


class AwardingTable(StageTable):
    """A stage that pays bonuses of its own for accepted examples."""

    bonuses: BonusesTable
    """What is paid besides the reward."""


class SkippingTable(StageTable):
    """A stage whose items have one writer each, who writes about an item or skips it."""

    max_skips: int = Field(ge=0)
    """How many items of a HIT may be skipped."""

    def misfits(self) -> Iterator[str]:
        """Yield also a sentence where nothing is written, or by more than one."""
        yield from super().misfits()
        if self.max_skips >= self.items_per_hit:
            yield "max_skips must leave at least one item of a HIT to write about"
        if set(self.redundancy.by_fold().values()) != {1} or self.redundancy.percent:
            yield "redundancy must be 1 in every fold: an item has one writer"

    def most_skips(self, n_items: int) -> int:
        """Return how many items of a HIT of `n_items` may be skipped: the last HIT is smaller."""
        return max(0, min(self.max_skips, n_items - 1))


class PairTable(SkippingTable, AwardingTable):
    """A stage whose workers write a question about each pair, or skip it (HotpotQA 2)."""

    max_skips_per_pair: int = Field(ge=1)
    """A pair is dropped when this number of people have skipped it."""


class DialogTable(StageTable):
    """The live dialogs (QuAC 2.1, 2.2)."""

    requires_student: str
    """The qualification stage that opens the student's role."""
    requires_teacher: str
    """The qualification stage that opens the teacher's role."""
    min_pairs: int = Field(ge=1)
    """Dialogs with fewer answered questions stay out of the data; they are paid."""
    max_questions: int = Field(ge=1, le=10_000)
    """The most questions of a dialog."""
    max_unanswerable: int = Field(ge=1)
    """The dialog ends at this number of questions without an answer."""
    max_span_tokens: int = Field(ge=1)
    """The longest answer that can be marked, in tokens."""
    max_question_characters: int = Field(ge=1)
    """The longest question that can be asked."""
    turn_cents: list[Annotated[int, Field(ge=0, le=10**5)]] = Field(min_length=1)
    """What each turn earns both partners, the first turn first."""
    wait_minutes: int = Field(ge=1)
    """How long somebody waits for a partner at most."""
    wait_cents_per_minute: int = Field(ge=0, le=10**5)
    """What a minute of waiting earns."""
    ready_seconds: int = Field(ge=5, le=86_400)
    """How long both have to say that they are there."""
    grace_seconds: int = Field(ge=5, le=86_400)
    """How long a lost connection may last."""
    move_minutes: int = Field(ge=1)
    """How long a partner may take for one move."""
    AT_MOST = (
        AtMost("min_pairs", "max_questions"),
        # A question is one message of a socket, which takes 16,384 bytes (`serving.plan`); written
        # as JSON, a character has six at most.
        AtMost("max_question_characters", 2_000),
    )

    def misfits(self) -> Iterator[str]:
        """Yield also a sentence for pay that falls, a third person, or too little time."""
        yield from super().misfits()
        if sorted(self.turn_cents) != self.turn_cents:
            yield "turn_cents must not fall from turn to turn"
        if self.redundancy.percent:
            yield "redundancy.percent must be 0: two people talk, never more"
        longest = self.wait_minutes + 2 * self.max_questions * self.move_minutes
        if self.allotted_minutes < longest:
            yield f"allotted_minutes must cover the longest wait and a dialog after it: {longest}"


class FurtherAnnotators(Redundancy):
    """How many workers answer again what was answered already; none is allowed."""

    train: int = Field(ge=0, le=10_000)
    """How many more people answer what is of the training fold."""
    dev: int = Field(ge=0, le=10_000)
    """How many more people answer what is of the development fold."""
    test: int = Field(ge=0, le=10_000)
    """How many more people answer what is of the test fold."""


class ValidationTable(StageTable):
    """A stage whose workers answer a dialog's questions in order (QuAC 2.2)."""

    redundancy: FurtherAnnotators
    """How many people answer one dialog again."""
    max_span_tokens: int = Field(ge=1)
    """The longest answer that can be marked, in tokens."""
    continuation: bool
    """Whether they also say how to go on."""


class SpanQuestionTable(StageTable):
    """A stage whose workers write questions about passages and mark the answer to each.

    Some of them the passage must not answer: then what looks like the answer is marked.
    """

    questions_per_item: int = Field(ge=1, le=1000)
    """How many questions are written about each passage."""
    unanswerable_per_item: int = Field(ge=0)
    """How many of them the passage must not answer, though it seems to."""
    AT_MOST = (AtMost("unanswerable_per_item", "questions_per_item"),)


class SpanAnswerTable(StageTable):
    """A stage whose workers mark the answer to what others asked about a passage, or say none."""

    redundancy: FurtherAnnotators
    """How many more people answer one question."""


class CategoryTable(Table):
    """One type of question: `value` is stored, `label` is shown, `hint` says when it fits."""

    # As long as the column that keeps a label.
    value: str = Field(pattern=r"^[a-z][a-z_]{0,19}$")
    """The type as it is stored."""
    label: str = Field(min_length=1)
    """What workers read."""
    hint: str = ""
    """Says when the type fits."""


class EvidenceQuestionTable(SkippingTable):
    """A stage whose workers write a question that needs each of a few passages, or skip them."""

    categories: list[CategoryTable] = Field(min_length=2)
    """The types of question to choose from."""
    max_skips_per_set: int = Field(ge=1)
    """A set of passages is dropped when this number of people have skipped it."""

    @model_validator(mode="after")
    def _types_differ(self) -> Self:
        values = [one.value for one in self.categories]
        for place in _repeated(values):
            raise ValueError(f"two types of question are the same: {values[place]!r}")
        return self


class SearchAnswerTable(StageTable):
    """A stage whose workers have a question and a search box over the corpus, and nothing else."""

    results_per_search: int = Field(ge=1, le=50)
    """How many passages a search shows."""


# The keys that pages of forms act on themselves: definitions, instructions, the next item, writing.
PAGE_KEYS = frozenset("dhnw")


class ChoiceTable(Table):
    """One label: `value` is stored and shown, `hint` says when it fits."""

    # As long as the column that keeps the label of a vote.
    value: str = Field(min_length=1, max_length=20)
    """The label that is stored and shown."""
    hint: str = ""
    """Says when the label fits."""
    key: str = Field("", pattern=r"^[a-z0-9]?$")
    """The key that chooses it; its number, where none is given."""
    group: str = ""
    """The group of labels that it belongs to."""
    example: str = ""
    """An example that it fits."""
    over: list[str] = []
    """The labels that it wins over where several fit."""


class Mistake(NamedTuple):
    """What is wrong with a form, and the place in it that must be mended, as keys and numbers."""

    place: tuple[str | int, ...]
    sentence: str


def refuse(title: str, mistakes: Iterable[Mistake]) -> None:
    """Raise ValidationError with every mistake at its place; none is no error."""
    found = [
        InitErrorDetails(
            # A sentence is no template: what people write may hold braces.
            type=PydanticCustomError("form", "{sentence}", {"sentence": mistake.sentence}),
            loc=mistake.place,
            input=None,
        )
        for mistake in mistakes
    ]
    if found:
        raise ValidationError.from_exception_data(title, found)


class FieldTable(Table):
    """One field of a form: one of `choices`, or free words where there are none."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    """The field's name in the data."""
    label: str = Field(min_length=1)
    """What workers read beside the field."""
    choices: list[ChoiceTable] = []
    """The labels to choose from; none for free words."""
    required: bool = True
    """Whether it must be filled in."""
    instead_of: str = ""
    """The field of the form that may be left out where this one is filled in; none if empty."""
    max_characters: int = Field(200, ge=1, le=10**5)
    """The most that can be written."""
    rule: str = ""
    """What decides where several labels fit: shown beside them."""
    groups: str = Field("", pattern=r"^([a-z][a-z_]*)?$")
    """The name in the data of what the groups of the labels say; none where they are headings."""

    @model_validator(mode="after")
    def _labels_are_clear(self) -> Self:
        refuse("field", self.mistakes())
        return self

    def mistakes(self) -> Iterator[Mistake]:
        """Yield what is wrong with the labels, each at its place in the field."""
        values = [choice.value for choice in self.choices]
        for place in _repeated(values):
            sentence = f"two labels of {self.name!r} are the same: {values[place]!r}"
            yield Mistake(("choices", place, "value"), sentence)
        yield from self._wrong_keys()
        yield from self._wrong_precedence()
        for place, choice in enumerate(self.choices):
            if self.groups and not choice.group:
                sentence = f"every label of {self.name!r} needs a group: groups are labels too"
                yield Mistake(("choices", place, "group"), sentence)

    def _wrong_keys(self) -> Iterator[Mistake]:
        keys = [choice.key for choice in self.choices]
        for place in _repeated(keys):
            sentence = f"two labels of {self.name!r} have the key {keys[place]!r}"
            yield Mistake(("choices", place, "key"), sentence)
        for place, key in enumerate(keys):
            if key in PAGE_KEYS:
                sentence = f"a label of {self.name!r} has {key!r}, a key of the page"
                yield Mistake(("choices", place, "key"), sentence)
            if not key and any(keys):
                sentence = f"give a key to all labels of {self.name!r}, or to none"
                yield Mistake(("choices", place, "key"), sentence)

    def _wrong_precedence(self) -> Iterator[Mistake]:
        beaten: dict[str, list[str]] = {}
        for choice in self.choices:
            beaten.setdefault(choice.value, []).extend(choice.over)
        for place, choice in enumerate(self.choices):
            for other in choice.over:
                if other not in beaten:
                    sentence = f"{choice.value!r} wins over {other!r}, which {self.name!r} has not"
                    yield Mistake(("choices", place, "over"), sentence)
        told: set[str] = set()
        for place, choice in enumerate(self.choices):
            circle = _circle(choice.value, beaten)
            if circle and told.isdisjoint(circle):
                told |= {*circle}
                names = ", ".join(map(repr, circle))
                sentence = f"in {self.name!r} these win over one another in a circle: {names}"
                yield Mistake(("choices", place, "over"), sentence)

    def group_of(self, value: str) -> str:
        """Return the group of a label, "" for one that is in none."""
        return {choice.value: choice.group for choice in self.choices}.get(value, "")


def mistakes_of_form(fields: Sequence[FieldTable]) -> Iterator[Mistake]:
    """Yield what is wrong with fields that stand in one form, each at its place in the form."""
    places = [
        ("fields", place, key)
        for place, field in enumerate(fields)
        for key in ("name", "groups")
        if getattr(field, key)
    ]
    names = [getattr(fields[place], key) for _, place, key in places]
    for repeated in _repeated(names):
        yield Mistake(places[repeated], f"two fields have the same name: {names[repeated]!r}")
    # A label that is left out is no vote.
    words = {field.name for field in fields if not field.choices}
    for place, field in enumerate(fields):
        if field.instead_of and field.instead_of not in words - {field.name}:
            sentence = f"there is no other field {field.instead_of!r} of free words to stand for"
            yield Mistake(("fields", place, "instead_of"), sentence)
    if fields and not fields[0].required:
        sentence = "the first field is what is collected: it must be required"
        yield Mistake(("fields", 0, "required"), sentence)


def _repeated(names: Sequence[str]) -> list[int]:
    """Return the places of names that stand there already; empty ones are none."""
    return [place for place, name in enumerate(names) if name and name in names[:place]]


def _circle(start: str, beaten: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the shortest way from a label over those it wins over back to it; none for none."""
    ways = [[start]]
    seen: set[str] = set()
    # The list grows at its end while it is gone through.
    for way in ways:
        for other in beaten.get(way[-1], ()):
            if other == start:
                return way
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


class FormTable(StageTable):
    """A stage whose workers fill in one form per item; the first field is what is collected."""

    fields: list[FieldTable] = Field(min_length=1)
    """What is filled in for each item; the first field is what is collected."""

    @model_validator(mode="after")
    def _fields_differ(self) -> Self:
        refuse("form", mistakes_of_form(self.fields))
        return self


class TextTable(FormTable):
    """A text stage: the first field is the free text that is collected."""

    @model_validator(mode="after")
    def _first_is_words(self) -> Self:
        if self.fields[0].choices:
            raise ValueError("the first field is the text: it cannot have choices")
        return self


class LabelTable(FormTable):
    """A label stage: the first field is the label, and the vote that agreement counts."""

    scheme: str = ""
    """The file of labels/ that the fields are read from, once, when a collection is created."""
    scheme_title: str = ""
    """What the scheme is called."""
    scheme_source: str = ""
    """Where the scheme is from: a paper's section, or the requester's own reasons."""
    UNTIL_OPENED: ClassVar[frozenset[str]] = frozenset(
        {"fields", "scheme", "scheme_title", "scheme_source"}
    )

    @model_validator(mode="after")
    def _first_is_a_choice(self) -> Self:
        if len(self.fields[0].choices) < 2:
            raise ValueError("the first field is the label: it needs two choices or more")
        return self


class WritingChecks(Table):
    """Limits of a question and of a reason, as the controls of the pages count them."""

    min_question_words: int = Field(ge=1)
    """A shorter question is refused."""
    max_question_characters: int = Field(ge=1)
    """A longer question is refused."""
    max_reason_characters: int = Field(ge=1)
    """The longest reason for doing something else than what was asked."""
    # A word and its space take six characters on average, and a question that is asked more.
    AT_MOST = (AtMost("min_question_words", "max_question_characters", times=10),)


class SpanChecks(WritingChecks):
    """Limits of what is written about a text, and of the words of it that are an answer."""

    max_answer_words: int = Field(ge=1)
    """A longer answer is refused."""


class PairChecks(SpanChecks):
    """Limits of what is written about a pair of paragraphs, or answered from it."""

    # The column that keeps why an item was skipped has no more room.
    AT_MOST = (AtMost("max_reason_characters", 1000),)


class EvidenceChecks(WritingChecks):
    """Limits of an answer with its evidence: passages of a corpus and the words in them."""

    max_short_characters: int = Field(ge=1)
    """The longest short answer."""
    max_full_characters: int = Field(ge=1)
    """The longest full answer."""
    max_evidence: int = Field(ge=1)
    """How many pieces of evidence an answer may have."""
    max_evidence_words: int = Field(ge=1)
    """The longest piece of evidence, in words."""
    max_query_characters: int = Field(ge=1)
    """The longest search."""
    min_searches: int = Field(ge=0, le=100)
    """Searches before somebody may say that the documents do not have the answer."""
    AT_MOST = (AtMost("max_reason_characters", 1000),)


class SchemeField(FieldTable):
    """A field of a label scheme: every label of it says what it means."""

    def mistakes(self) -> Iterator[Mistake]:
        """Yield what is wrong with the field, each at its place in it."""
        yield from super().mistakes()
        if len(self.choices) == 1:
            sentence = f"{self.name!r} needs two labels or more"
            yield Mistake(("choices", 0, "value"), sentence)
        for place, choice in enumerate(self.choices):
            if not choice.hint.strip():
                sentence = f"say what {choice.value!r} means: it has no definition"
                yield Mistake(("choices", place, "hint"), sentence)


class SchemeTable(Table):
    """A label scheme: its facets, each with its labels, as the fields of a form."""

    title: str = Field(min_length=1, max_length=120)
    """What the scheme is called."""
    source: str = Field(min_length=1, max_length=300)
    """Where it is from: a paper's section, or the requester's own reasons."""
    fields: list[SchemeField] = Field(min_length=1)
    """The facets that are labelled, and what may be written beside them."""

    @model_validator(mode="after")
    def _is_a_form_of_labels(self) -> "SchemeTable":
        mistakes = list(mistakes_of_form(self.fields))
        if not self.fields[0].choices:
            mistakes.append(Mistake(("fields", 0, "choices"), "the first field needs labels"))
        refuse("scheme", mistakes)
        return self

    def facets(self) -> list[SchemeField]:
        """Return the fields that are labels: those with choices."""
        return [field for field in self.fields if field.choices]

    def facet(self, name: str) -> SchemeField:
        """Return a facet by its name; raises KeyError for none of the scheme's."""
        return {field.name: field for field in self.facets()}[name]


def read_scheme(path: Path) -> SchemeTable:
    """Return the scheme of a file; raises ProtocolError, one line with its name and the place."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ProtocolError(f"{path}: it cannot be read ({error.strerror}).") from None
    return parse_scheme(content, str(path))


def parse_scheme(content: bytes, name: str) -> SchemeTable:
    """Return the scheme of a file's content; raises ProtocolError, a line with the file's name."""
    try:
        return scheme_from(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProtocolError(f"{name} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise ProtocolError(f"{name}: {wrong_values(error)}") from None


@cache
def scheme_from(text: str) -> SchemeTable:
    """Return the scheme that is written as TOML.

    Raises tomllib.TOMLDecodeError, and ValidationError with each mistake at its place.
    """
    return SchemeTable.model_validate(tomllib.loads(text))


def toml_of(scheme: SchemeTable) -> str:
    """Return the scheme as a file of labels/ has it: read again, it is the same."""
    lines = [f"title = {_toml(scheme.title)}", f"source = {_toml(scheme.source)}"]
    for field in scheme.model_dump(exclude_defaults=True)["fields"]:
        choices = field.pop("choices", [])
        lines += ["", "[[fields]]", *(f"{name} = {_toml(value)}" for name, value in field.items())]
        if choices:
            lines += ["choices = [", *(f"  {_toml(choice)}," for choice in choices), "]"]
    return "\n".join(lines) + "\n"


def schemes_of(protocol: Protocol) -> dict[str, SchemeTable]:
    """Return every scheme of the protocol's folder, by the file's name; raises ProtocolError."""
    paths = sorted((protocol.folder / SCHEMES).glob("*.toml"))
    return {path.stem: read_scheme(path) for path in paths}


def scheme_for(collection: Collection, name: str) -> SchemeTable:
    """Return a scheme by name: one that the collection labels by, else one of its protocol.

    Raises ProtocolError that lists both.
    """
    own = {
        table.scheme: scheme_of_stage(table)
        for table in label_stages(parameters_of(collection)).values()
        if table.scheme
    }
    known = {**schemes_of(get_protocol(collection.protocol)), **own}
    if name not in known:
        raise ProtocolError(
            f"The collection {collection.slug!r} has no label scheme {name!r}. "
            f"Known: {', '.join(sorted(known)) or 'none'}."
        )
    return known[name]


def every_scheme() -> dict[str, SchemeTable]:
    """Return the schemes of all protocols' folders, by PROTOCOL/NAME; broken ones are none."""
    found: dict[str, SchemeTable] = {}
    for protocol in all_protocols():
        with suppress(ProtocolError):
            found |= {f"{protocol.name}/{name}": one for name, one in schemes_of(protocol).items()}
    return found


def label_stages(parameters: Parameters) -> dict[str, LabelTable]:
    """Return the stages whose workers label, by name."""
    tables = parameters.stages().items()
    return {name: table for name, table in tables if isinstance(table, LabelTable)}


def scheme_of_stage(table: LabelTable) -> SchemeTable:
    """Return what a stage labels by as a scheme; it may lack what one needs to be written anew."""
    fields = [SchemeField.model_construct(**dict(field)) for field in table.fields]
    return SchemeTable.model_construct(
        title=table.scheme_title or fields[0].label,
        source=table.scheme_source or f"The stage {table.title!r}",
        fields=fields,
    )


def _toml(value: object) -> str:
    """Return a value as TOML has it, on one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{name} = {_toml(each)}" for name, each in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    # A string of JSON is one of TOML, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
