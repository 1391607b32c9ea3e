"""Label schemes: what labellers choose from, as data of a protocol's folder (labels/NAME.toml)."""

import tomllib
from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError

from collector.protocols.loading import SCHEMES, Protocol, ProtocolError, wrong_values
from collector.protocols.parameters import Table
from collector.protocols.stage_tables import FieldTable


class SchemeTable(Table):
    """A label scheme: its facets, each with its labels, as the fields of a form."""

    title: str = Field(min_length=1)
    """What the scheme is called."""
    source: str = Field(min_length=1)
    """Where it is from: a paper's section, or the requester's own reasons."""
    fields: list[FieldTable] = Field(min_length=1)
    """The facets that are labelled, and what may be written beside them."""

    def facets(self) -> list[FieldTable]:
        """Return the fields that are labels: those with choices."""
        return [field for field in self.fields if field.choices]

    def facet(self, name: str) -> FieldTable:
        """Return a facet by its name; raises KeyError for none of the scheme's."""
        return {field.name: field for field in self.facets()}[name]


def read_scheme(path: Path) -> SchemeTable:
    """Return the scheme of a file; raises ProtocolError, one line with its name and the place."""
    try:
        return _scheme(path, path.read_text("utf-8"))
    except OSError as error:
        raise ProtocolError(f"{path}: it cannot be read ({error.strerror}).") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProtocolError(f"{path} is not valid TOML: {error}") from None
    except ValidationError as error:
        raise ProtocolError(f"{path}: {wrong_values(error)}") from None


def scheme_of(protocol: Protocol, name: str) -> SchemeTable:
    """Return a scheme of the protocol's folder; raises ProtocolError that lists its schemes."""
    schemes = schemes_of(protocol)
    if name not in schemes:
        known = ", ".join(schemes) or "none"
        raise ProtocolError(
            f"The protocol {protocol.name!r} has no label scheme {name!r}. Known: {known}."
        )
    return schemes[name]


def schemes_of(protocol: Protocol) -> dict[str, SchemeTable]:
    """Return every scheme of the protocol's folder, by the file's name; raises ProtocolError."""
    paths = sorted((protocol.folder / SCHEMES).glob("*.toml"))
    return {path.stem: read_scheme(path) for path in paths}


@cache
def _scheme(path: Path, text: str) -> SchemeTable:
    return SchemeTable.model_validate(tomllib.loads(text))
