"""What a part of a protocol's folder is to the type checker: a file that offers a contract.

Each room declares the parts that it asks: a `typing.Protocol` that says what the file offers, and
a `Part` that names the file. Annotate a folder's own modules as these contracts in its
`__init__.py`, and mypy holds them to it.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Generic, Protocol, TypeVar, cast

from collector.protocols.parameters import Parameters

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
        if each not in (object, Protocol, Generic):
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


class ParametersPart(Protocol):
    """parameters.py: the typed parameters."""

    @property
    def Parameters(self) -> type[Parameters]:
        """Return the model of protocol.toml."""

    @property
    def VERSION(self) -> int:
        """Return the version: raised with protocol.toml's own when a parameter is renamed."""


class UpgradesParameters(Protocol):
    """parameters.py of a protocol that has renamed a parameter."""

    def upgrade(self, parameters: dict[str, object], from_version: int) -> dict[str, object]:
        """Return stored parameters of an earlier version as this version names them."""


class ParametersModule(ParametersPart, UpgradesParameters, Protocol):
    """All that is called of parameters.py."""


class WithholdsAnswers(Protocol):
    """export.py of a protocol that publishes some splits without answers."""

    @property
    def WITHHELD(self) -> Mapping[str, Sequence[str]]:
        """Return such splits, each with the names of the contexts that are published."""


PARAMETERS = Part[ParametersModule]("parameters", ParametersModule, ParametersPart)
WITHHOLDING = Part[WithholdsAnswers]("export", WithholdsAnswers, defaults={"WITHHELD": {}})
