"""Loads a protocol's folder: its typed parameters and its parts by file name."""

import hashlib
import importlib
import importlib.util
import sys
import tomllib
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from django.conf import settings
from pydantic import ValidationError

from collector.protocols.parameters import Parameters, with_overrides

# Part -> what it must offer, with the names of the parameters that it is called with, if it is.
PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "parameters": {"Parameters": (), "VERSION": ()},
    "seeds": {"candidates": ("corpus", "parameters", "rng")},
    "checks": {"problems": ("kind", "data", "items", "table", "parameters")},
    "validation": {
        "vote": ("type", "payload"),
        "verdict": ("votes", "parameters", "fold"),
    },
    "splits": {
        "plan": ("seeds", "parameters", "rng", "planned", "fold_of_text"),
        "assign": ("examples", "parameters", "rng"),
        "text_key": ("text",),
    },
    "export": {
        "identified": ("seeds",),
        "files": ("seeds_by_split", "articles"),
        "published": ("files",),
        "SPLITS": (),
    },
    "simulated": {"fill": ("page", "behaviour", "rng", "open_article")},
}
# Offered where they fit: values of an earlier version brought up to date, the text that a seed of
# several paragraphs is about, the files of splits whose answers are not published (named by
# WITHHELD), real work to do again, the stand-in for who inspects a qualification, the official
# metrics, the paper's baselines (named by BASELINES), its own tables.
EXTRAS: dict[str, dict[str, tuple[str, ...]]] = {
    "parameters": {"upgrade": ("parameters", "from_version")},
    "seeds": {"text_of": ("texts",)},
    "export": {"gold": ("seeds_by_split",)},
    "simulated": {
        "inspect": ("kind", "data", "items", "open_article"),
        "replay": ("path",),
    },
    "scoring": {"score": ("predictions", "gold", "options")},
    "baselines": {
        "run": ("name", "predictions", "gold", "options"),
        "run_all": ("folder", "gold", "options"),
    },
    "report": {
        "tables": ("seeds", "parameters"),
        "predicted": ("seeds", "parameters", "predictions"),
        "sample": ("seeds", "parameters", "rng"),
        "labelled": ("rows",),
    },
}


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

    def part(self, name: str) -> ModuleType:
        """Return the module `name` of the folder.

        Raises ProtocolError naming the missing file, or the missing function of a file.
        """
        path = self.folder / f"{name}.py"
        if not path.exists():
            raise ProtocolError(f"The protocol {self.name!r} lacks {path}: write it.")
        module = _imported(self.name, self.folder, name)
        for wanted, parameters in PARTS.get(name, {}).items():
            if not hasattr(module, wanted):
                call = f"({', '.join(parameters)})" if parameters else ""
                raise ProtocolError(f"{path} lacks {wanted}{call}: write it.")
        return module

    def extra(self, part: str, name: str) -> Any:
        """Return what the part offers as `name`; raises ProtocolError where it offers none.

        For what is asked of it only where it fits: see EXTRAS.
        """
        offered = getattr(self.part(part), name, None)
        if offered is None:
            call = f"{name}({', '.join(EXTRAS[part][name])})"
            path = self.folder / f"{part}.py"
            raise ProtocolError(f"The protocol {self.name!r} cannot {name}: {path} has no {call}.")
        return offered

    def has(self, name: str) -> bool:
        """Return whether the folder has the part `name`."""
        return (self.folder / f"{name}.py").exists()

    def defaults(self) -> dict[str, Any]:
        """Return protocol.toml as nested dictionaries, not validated yet."""
        path = self.folder / "protocol.toml"
        try:
            return deepcopy(_values(path.read_text("utf-8")))
        except FileNotFoundError:
            raise ProtocolError(f"The protocol {self.name!r} lacks {path}: write it.") from None
        except tomllib.TOMLDecodeError as error:
            raise ProtocolError(f"{path} is not valid TOML: {error}") from None

    def parameters(self, overrides: dict[str, Any] | None = None) -> Parameters:
        """Return the parameters of protocol.toml with dotted `overrides` laid over them.

        Raises ProtocolError naming file and key for an unknown key or a wrong value.
        """
        try:
            values = with_overrides(self.defaults(), overrides or {})
        except KeyError as error:
            raise ProtocolError(str(error.args[0])) from None
        return self.resolved(values)

    def resolved(self, values: dict[str, Any]) -> Parameters:
        """Return stored or merged `values` as typed parameters; raises ProtocolError.

        What they do not say of the table `report` is as protocol.toml says.
        """
        model: type[Parameters] = self.part("parameters").Parameters
        told = self.defaults().get(REPORT)
        if told and isinstance(values.get(REPORT, {}), dict):
            values = {**values, REPORT: {**told, **values.get(REPORT, {})}}
        try:
            return model.model_validate(values)
        except ValidationError as error:
            raise ProtocolError(f"{self.folder / 'protocol.toml'}: {wrong_values(error)}") from None

    def samples(self) -> dict[str, Any]:
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


def wrong_values(error: ValidationError) -> str:
    """Return what is wrong with which keys, in one sentence."""
    lines = [
        f"{'.'.join(str(part) for part in problem['loc'])}: "
        f"{problem['msg'].removeprefix('Value error, ')}"
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
def _values(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


@cache
def _imported(name: str, folder: Path, part: str) -> ModuleType:
    """Return the folder's module, imported as a package of its own where it has no other name."""
    package = _package(name, folder)
    return importlib.import_module(f"{package}.{part}")


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
