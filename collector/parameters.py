"""The typed parameters every protocol shares; a protocol's own tables extend them."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

FOLDS = ("train", "dev", "test")


class Table(BaseModel):
    """A table of protocol.toml: an unknown key refuses to load."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProtocolTable(Table):
    """What the protocol is called, and the version of its parameters."""

    name: str
    version: int
    title: str


class PayTable(Table):
    """Currency and the rules that hold for every payment of a collection."""

    currency: str
    minor_units: int
    floor_cents_per_hour: int
    fee_percent: int
    min_fee_cents: int
    approve_after_hours: float


class SplitsTable(Table):
    """Weights of the folds."""

    train: int
    dev: int
    test: int


class Redundancy(Table):
    """How many workers answer one item, by the fold of its seed."""

    train: int = Field(ge=1)
    dev: int = Field(ge=1)
    test: int = Field(ge=1)


class StageTable(Table):
    """One stage: what its HITs hold, who may take them, for how much and for how long."""

    kind: str
    title: str
    description: str
    keywords: str
    reward_cents: int = Field(ge=0)
    expected_minutes: int = Field(ge=1)
    allotted_minutes: int = Field(ge=1)
    extension_minutes: int = Field(ge=0)
    lifetime_days: int = Field(ge=1)
    auto_approval_days: int = Field(ge=1, le=5)
    items_from: str
    items_per_hit: int = Field(ge=1)
    places_at_once: int = Field(ge=1)
    redundancy: Redundancy
    requires: str = ""
    qualifies: bool = False
    # What a requester may still change once workers have begun: it does not decide the data.
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset(
        {"reward_cents", "lifetime_days", "places_at_once", "title", "description", "keywords"}
    )


class Parameters(Table):
    """The root of a protocol's parameters; stages are the fields whose tables are StageTables."""

    protocol: ProtocolTable
    pay: PayTable
    splits: SplitsTable

    def stages(self) -> dict[str, StageTable]:
        """Return the stages by name, in the order a collection goes through them."""
        tables = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: table for name, table in tables.items() if isinstance(table, StageTable)}


def with_overrides(values: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Return nested `values` with dotted `overrides` laid over them.

    Raises KeyError with a sentence for a key that `values` does not have.
    """
    result = {
        name: dict(table) if isinstance(table, dict) else table for name, table in values.items()
    }
    for dotted, value in overrides.items():
        *path, last = dotted.split(".")
        table: Any = result
        for part in path:
            if not isinstance(table.get(part), dict):
                raise KeyError(f"There is no table {part!r} in {dotted!r}.")
            table[part] = dict(table[part])
            table = table[part]
        if last not in table:
            known = ", ".join(sorted(table))
            raise KeyError(f"There is no parameter {dotted!r}. Known here: {known}.")
        table[last] = value
    return result
