"""Label schemes: what labellers choose from, as data (labels/NAME.toml, or a collection's own)."""

import json
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError, model_validator

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
from collector.protocols.parameters import Parameters, Table
from collector.protocols.stage_tables import (
    FieldTable,
    LabelTable,
    Mistake,
    mistakes_of_form,
    refuse,
)


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
