"""Loads protocols: their folders, their parts and the contracts of these, and what is missing."""

import hashlib
import importlib
import importlib.util
import inspect
import logging
import os
import socket
import sys
import tomllib
import traceback
import typing
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

from django.conf import settings
from django.utils.module_loading import import_string
from pydantic import ValidationError

from collector.models import KnownProtocols
from collector.protocols.parameters import STORED, Parameters, with_overrides

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
# A protocol's own parameters, in the contracts of the parts that are called with them.
P = TypeVar("P", bound=Parameters, contravariant=True)


@dataclass(frozen=True)
class Part(Generic[T_co]):
    """A file of a protocol's folder: of `name`.py the members of `contract` are called.

    required: the contract of what it must offer, all of it unless said. defaults: what stands in
    for members that it may leave out. Other members fit some protocols only: who calls one asks
    for it by name.
    """

    name: str
    contract: type[object]
    required: type[object] | None = None
    defaults: Mapping[str, object] = field(default_factory=dict)

    def members(self) -> list[str]:
        """Return the names of all that may be called, in order."""
        return _members(self.contract)

    def arguments(self, member: str) -> tuple[str, ...] | None:
        """Return the names of a function's arguments; None for what is no function."""
        function = getattr(self.contract, member, None)
        if not inspect.isfunction(function):
            return None
        return tuple(inspect.signature(function).parameters)[1:]

    def call(self, member: str) -> str:
        """Return how a member is called, such as "files(seeds_by_split, articles)"."""
        arguments = self.arguments(member)
        return member if arguments is None else f"{member}({', '.join(arguments)})"

    def missing(self, module: ModuleType, needed: Sequence[str] = ()) -> list[str]:
        """Return the members that the file has to offer and does not."""
        required = _members(self.contract if self.required is None else self.required)
        wanted = [name for name in (*required, *needed) if name not in self.defaults]
        return [name for name in wanted if not hasattr(module, name)]

    def of(self, module: ModuleType) -> T_co:
        """Return the module as the contract: its own members, and defaults for those it lacks."""
        if all(hasattr(module, name) for name in self.defaults):
            return cast(T_co, module)
        return cast(T_co, _WithDefaults(module, self.defaults))


def _members(contract: type[object]) -> list[str]:
    found: dict[str, None] = {}
    for each in reversed(contract.__mro__):
        if each not in (object, typing.Protocol, Generic):
            found |= dict.fromkeys(vars(each))
    return [name for name in found if not name.startswith("_")]


class _WithDefaults:
    """A module whose missing members are the defaults of its part."""

    def __init__(self, module: ModuleType, defaults: Mapping[str, object]) -> None:
        self._module, self._defaults = module, defaults

    def __getattr__(self, name: str) -> object:
        try:
            return getattr(self._module, name)
        except AttributeError:
            if name not in self._defaults:
                raise
            return self._defaults[name]


class ParametersPart(typing.Protocol):
    """parameters.py: the typed parameters."""

    @property
    def Parameters(self) -> type[Parameters]:
        """Return the model of protocol.toml."""

    @property
    def VERSION(self) -> int:
        """Return the version: raised with protocol.toml's own when a parameter is renamed."""


class UpgradesParameters(typing.Protocol):
    """parameters.py of a protocol that has renamed a parameter."""

    def upgrade(self, parameters: dict[str, object], from_version: int) -> dict[str, object]:
        """Return stored parameters of an earlier version as this version names them."""


class ParametersModule(ParametersPart, UpgradesParameters, typing.Protocol):
    """All that is called of parameters.py."""


class WithholdsAnswers(typing.Protocol):
    """export.py of a protocol that publishes some splits without answers."""

    @property
    def WITHHELD(self) -> Mapping[str, Sequence[str]]:
        """Return such splits, each with the names of the contexts that are published."""


PARAMETERS = Part[ParametersModule]("parameters", ParametersModule, ParametersPart)
WITHHOLDING = Part[WithholdsAnswers]("export", WithholdsAnswers, defaults={"WITHHELD": {}})


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
        together is refused of new values alone: work by stored ones goes on.
        """
        model = self.part(PARAMETERS).Parameters
        told = self._kept(self.folder / "protocol.toml").get(REPORT)
        if told and isinstance(values.get(REPORT, {}), dict):
            values = {**values, REPORT: {**_table(told), **_table(values.get(REPORT))}}
        try:
            return model.model_validate(values, context=STORED if stored else None)
        except ValidationError as error:
            name, *inside = error.errors()[0]["loc"] or [""]
            scheme = _table(values.get(str(name))).get("scheme")
            path = self.folder / SCHEMES / f"{scheme}.toml"
            is_of_scheme = scheme and inside[:1] == ["fields"] and path.exists()
            path = path if is_of_scheme else self.folder / "protocol.toml"
            raise ProtocolError(f"{path}: {wrong_values(error)}") from None

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


# A process that said nothing for this time is not at work any more; jobs say it every 20 s.
AT_WORK = timedelta(minutes=1)
KEPT = timedelta(days=1)
log = logging.getLogger(__name__)


def record(now: datetime) -> None:
    """Write which protocols this process knows."""
    process = f"{socket.gethostname()}:{os.getpid()}"
    told = {"names": [one.name for one in all_protocols()], "seen_at": now}
    KnownProtocols.objects.update_or_create(process=process, defaults=told)
    KnownProtocols.objects.filter(seen_at__lt=now - KEPT).delete()


def hosts_without(protocol: str, now: datetime) -> list[str]:
    """Return the hosts on which a process at work does not know the protocol, by name."""
    rows = KnownProtocols.objects.filter(seen_at__range=(now - AT_WORK, now + AT_WORK))
    return sorted({row.process.rpartition(":")[0] for row in rows if protocol not in row.names})


def log_once(error: ProtocolError) -> None:
    """Log why a collection cannot be read, once in a process and not with every page and job."""
    _log(str(error))


@cache
def _log(sentence: str) -> None:
    log.error("A collection cannot be read here: %s", sentence)


# What upper rooms ask of a folder, and what they know, is found by its name.
SEEDS, CURATED_SEEDS = (f"collector.seeds.candidate.{part}" for part in ("SEEDS", "CURATED_SEEDS"))
NEEDED = (
    "collector.seeds.candidate.SPLITS",
    "tasks.work.kinds.kind.CHECKS",
    "annotation.protocols.contracts.VALIDATION",
    "annotation.protocols.contracts.EXPORT",
)
FITTING = (
    "tasks.simulation.simulated_contract.SIMULATED",
    "annotation.protocols.contracts.REPORT",
    "annotation.protocols.contracts.SCORING",
)
GET_KIND = "tasks.work.kinds.registry.get_kind"
UNKNOWN_PLACEHOLDERS = "tasks.pages.wording.unknown_placeholders"


def check_whole(protocol: Protocol, parameters: Parameters) -> None:
    """Raise ProtocolError with a line for all that the folder lacks, or has wrong, for these."""
    found = [
        *_faults_of_parts(protocol),
        *_faults_of_name(protocol, parameters),
        *_faults_of_stages(protocol, parameters),
    ]
    if found:
        raise ProtocolError("\n".join(found))


def check_parts(protocol: Protocol) -> None:
    """Raise ProtocolError with a line for each file that cannot be called as it will be."""
    if found := list(_faults_of_parts(protocol)):
        raise ProtocolError("\n".join(found))


def _faults_of_parts(protocol: Protocol) -> Iterator[str]:
    yield from _faults_of(protocol, PARAMETERS)
    yield from _faults_of_seeds(protocol)
    for part in map(import_string, NEEDED):
        yield from _faults_of(protocol, part)
    for part in map(import_string, FITTING):
        if protocol.has(part):
            yield from _faults_of(protocol, part)


def _faults_of_seeds(protocol: Protocol) -> Iterator[str]:
    seeds = import_string(SEEDS)
    try:
        is_curated = protocol.part(seeds).CURATED
    except ProtocolError as error:
        yield str(error)
        return
    yield from _faults_of(protocol, import_string(CURATED_SEEDS) if is_curated else seeds)


def _faults_of_name(protocol: Protocol, parameters: Parameters) -> Iterator[str]:
    told, version = parameters.protocol, protocol.part(PARAMETERS).VERSION
    file = protocol.folder / "protocol.toml"
    if told.name != protocol.name:
        yield f"{file}: protocol.name is {told.name!r}: write the folder's name, {protocol.name!r}."
    if told.version != version:
        yield (
            f"{file}: protocol.version is {told.version}, VERSION in parameters.py {version}: "
            "give both the same number."
        )


def _faults_of_stages(protocol: Protocol, parameters: Parameters) -> Iterator[str]:
    stages = parameters.stages()
    file = protocol.folder / "protocol.toml"
    earlier, unknown_kinds = ["seeds"], []
    for name, table in stages.items():
        if table.items_from not in earlier:
            known = ", ".join(earlier)
            yield (
                f"{file}: {name}.items_from is {table.items_from!r}, nothing that comes before: "
                f"take one of {known}."
            )
        earlier.append(name)
        try:
            import_string(GET_KIND)(table.kind)
        except ProtocolError as error:
            unknown_kinds.append(f"{file}: {name}.kind: {error}")
    if unknown_kinds:
        # What such a stage's placeholders stand for is not known either.
        yield from unknown_kinds
        return
    # Consent is asked for before the first one.
    for text, stage in (("consent", next(iter(stages))), *zip(stages, stages, strict=True)):
        try:
            words = protocol.text(text)
        except ProtocolError as error:
            yield str(error)
            continue
        for unknown in import_string(UNKNOWN_PLACEHOLDERS)(words, parameters, stage):
            yield (
                f"{protocol.folder}/instructions/{text}.md: {unknown} stands for nothing: take one "
                "of the placeholders in docs/protocol.md."
            )


def _faults_of(protocol: Protocol, part: Part[Any]) -> Iterator[str]:
    try:
        module = protocol.part(part)
    except ProtocolError as error:
        yield str(error)
        return
    for member in part.members():
        arguments, offered = part.arguments(member), getattr(module, member, None)
        if arguments is None or offered is None:
            continue
        if not _takes(offered, arguments):
            yield f"{protocol.folder / part.name}.py: {member} is called as {part.call(member)}."


def _takes(function: Any, names: Sequence[str]) -> bool:
    try:
        inspect.signature(function).bind(*names)
    except TypeError:
        return False
    except ValueError:
        # Some functions of Python's own do not say what they take.
        return callable(function)
    return True
