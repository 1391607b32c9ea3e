"""Loads a protocol's folder: its typed parameters and its parts by file name."""

import hashlib
import importlib
import importlib.util
import sys
import tomllib
import traceback
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from django.conf import settings
from pydantic import ValidationError

from collector.protocols.parameters import STORED, Parameters, with_overrides
from collector.protocols.part_contract import PARAMETERS, Part, T

# The folder of a protocol's label schemes.
SCHEMES = "labels"
# The table that decides nothing of the data: what a collection made before does not say of it is
# as protocol.toml says now, so that each number stands in one place.
REPORT = "report"


class ProtocolError(Exception):
    """A protocol's folder, or a value given for one of its parameters, is wrong."""


@dataclass(frozen=True)
class Protocol:
    """One folder under a folder of protocols; parts are imported when first asked for."""

    name: str
    folder: Path

    def part(self, part: Part[T], *needed: str) -> T:
        """Return a file of the folder as the contract it offers, defaults in place of the rest.

        needed: members that only fit some protocols. Raises ProtocolError naming the missing file,
        or the missing function of a file and how it is called.
        """
        path = self._path(part)
        if not path.exists():
            raise ProtocolError(f"The protocol {self.name!r} lacks {path}: write it.")
        module = _imported(self.name, self.folder, part.name)
        for member in part.missing(module, needed):
            if member in needed:
                raise ProtocolError(
                    f"The protocol {self.name!r} cannot {member}: "
                    f"{path} has no {part.call(member)}."
                )
            raise ProtocolError(f"{path} lacks {part.call(member)}: write it.")
        return part.of(module)

    def has(self, part: Part[T], *members: str) -> bool:
        """Return whether the folder has the file of a part, and in it these optional members."""
        if not self._path(part).exists():
            return False
        module = _imported(self.name, self.folder, part.name) if members else None
        return all(hasattr(module, member) for member in members)

    def _path(self, part: Part[T]) -> Path:
        package = self.folder / part.name / "__init__.py"
        return package if package.exists() else self.folder / f"{part.name}.py"

    def defaults(self) -> dict[str, object]:
        """Return protocol.toml as nested dictionaries, not validated yet."""
        values = self._read(self.folder / "protocol.toml")
        for table in values.values():
            if isinstance(table, dict) and table.get("scheme") and "fields" not in table:
                scheme = self._read(self.folder / SCHEMES / f"{table['scheme']}.toml")
                table["fields"] = scheme.get("fields")
                for name in ("title", "source"):
                    table[f"scheme_{name}"] = scheme.get(name, "")
        return values

    def _read(self, path: Path) -> dict[str, object]:
        return deepcopy(self._kept(path))

    def _kept(self, path: Path) -> dict[str, object]:
        """Return what a file says, to be read alone: others are given the same."""
        try:
            return _values(path.read_text("utf-8"))
        except FileNotFoundError:
            raise ProtocolError(f"The protocol {self.name!r} lacks {path}: write it.") from None
        except tomllib.TOMLDecodeError as error:
            raise ProtocolError(f"{path} is not valid TOML: {error}") from None

    def parameters(self, overrides: dict[str, object] | None = None) -> Parameters:
        """Return the parameters of protocol.toml with dotted `overrides` laid over them.

        What may be left out of that file can be overridden too. Raises ProtocolError naming file
        and key for an unknown key or a wrong value.
        """
        told = self.resolved(self.defaults())
        if not overrides:
            return told
        try:
            values = with_overrides(told.model_dump(mode="json"), overrides)
        except KeyError as error:
            raise ProtocolError(str(error.args[0])) from None
        wanted = self.resolved(values)
        for key, value in told.fixed().items():
            if wanted.fixed().get(key) != value:
                raise ProtocolError(f"{key} says what the protocol is: leave it out.")
        return wanted

    def resolved(self, values: dict[str, object], *, stored: bool = False) -> Parameters:
        """Return merged or `stored` values as typed parameters; raises ProtocolError.

        What they do not say of the table `report` is as protocol.toml says. What does not fit
        together is refused of new values alone: whoever works by stored ones goes on.
        """
        model = self.part(PARAMETERS).Parameters
        told = self._kept(self.folder / "protocol.toml").get(REPORT)
        if told and isinstance(values.get(REPORT, {}), dict):
            values = {**values, REPORT: {**_table(told), **_table(values.get(REPORT))}}
        try:
            return model.model_validate(values, context=STORED if stored else None)
        except ValidationError as error:
            path = self._source(values, error)
            raise ProtocolError(f"{path}: {wrong_values(error)}") from None

    def _source(self, values: Mapping[str, object], error: ValidationError) -> Path:
        """Return the file to mend: that of a label scheme where what is wrong first is in one."""
        name, *inside = error.errors()[0]["loc"] or [""]
        scheme = _table(values.get(str(name))).get("scheme")
        path = self.folder / SCHEMES / f"{scheme}.toml"
        is_of_scheme = scheme and inside[:1] == ["fields"] and path.exists()
        return path if is_of_scheme else self.folder / "protocol.toml"

    def samples(self) -> dict[str, object]:
        """Return samples.toml: worked samples by kind of stage, none where there is no such file.

        Raises ProtocolError for a file that is no TOML.
        """
        path = self.folder / "samples.toml"
        if not path.exists():
            return {}
        try:
            return tomllib.loads(path.read_text("utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ProtocolError(f"{path} is not valid TOML: {error}") from None

    def text(self, name: str) -> str:
        """Return the Markdown of instructions/`name`.md; raises ProtocolError when missing."""
        path = self.folder / "instructions" / f"{name}.md"
        if not path.exists():
            raise ProtocolError(f"The protocol {self.name!r} lacks {path}: write it.")
        return path.read_text("utf-8")


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def wrong_values(error: ValidationError) -> str:
    """Return what is wrong with which keys, in one sentence."""
    lines = [
        ": ".join(
            part for part in (".".join(map(str, problem["loc"])), problem["msg"]) if part
        ).replace("Value error, ", "", 1)
        for problem in error.errors()
    ]
    return "; ".join(lines) + "."


def get_protocol(name: str) -> Protocol:
    """Return the protocol `name`; raises ProtocolError that lists the known ones."""
    for parent in settings.PROTOCOL_FOLDERS:
        folder = Path(parent) / name
        if (folder / "protocol.toml").exists():
            return Protocol(name, folder)
    known = ", ".join(protocol.name for protocol in all_protocols())
    raise ProtocolError(f"There is no protocol {name!r}. Known: {known or 'none'}.")


def all_protocols() -> list[Protocol]:
    """Return every protocol of the configured folders, by name."""
    found = {
        path.parent.name: Protocol(path.parent.name, path.parent)
        for parent in reversed(settings.PROTOCOL_FOLDERS)
        for path in Path(parent).glob("*/protocol.toml")
    }
    return [found[name] for name in sorted(found)]


@cache
def _values(text: str) -> dict[str, object]:
    return tomllib.loads(text)


@cache
def _imported(name: str, folder: Path, part: str) -> ModuleType:
    """Return the folder's module, imported as a package of its own where it has no other name.

    Raises ProtocolError naming the line that cannot be imported.
    """
    package = _package(name, folder)
    try:
        return importlib.import_module(f"{package}.{part}")
    except Exception as error:
        # Whatever its author's own lines raise.
        raise ProtocolError(
            f"{_place(error, folder, part)}: {type(error).__name__}: {error}"
        ) from error


def _place(error: Exception, folder: Path, part: str) -> str:
    """Return the file of a folder, and the line there, at which it could not be imported."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    return f"{inside[-1].filename}, line {inside[-1].lineno}" if inside else f"{folder / part}.py"


def _package(name: str, folder: Path) -> str:
    """Return the import name of the protocol's folder, registering a foreign folder once."""
    root = Path(settings.BASE_DIR)
    if folder.is_relative_to(root):
        return ".".join(folder.relative_to(root).parts)
    place = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    package = f"collector_protocol_{name}_{place}"
    if package not in sys.modules:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[package] = importlib.util.module_from_spec(spec)
    return package
