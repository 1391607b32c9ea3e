"""What the kinds share whose workers fill in a form about each item, given as data."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, cast

from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.stage_tables import FormTable
from tasks.work.kinds.kind import Data, Documents, Item, StageKind, table_as
from tasks.work.widgets import form
from tasks.work.widgets.problems import Problem


class CleanedEntry(TypedDict):
    """A filled-in form about one item: what was written or chosen, by field, in their order."""

    item: str
    fields: dict[str, str]


class FormKind(StageKind):
    """A kind whose page is a form that the protocol gives as data, once for each item."""

    def limits(self, table: StageTable, parameters: Parameters) -> dict[str, object]:
        """Return the form's fields, how many items there are, and whether there are labels."""
        form_table = table_as(table, FormTable)
        return {
            "items": table.items_per_hit,
            "fields": form_table.model_dump()["fields"],
            "choices": any(field.choices for field in form_table.fields),
        }

    def clean(
        self,
        data: object,
        items: Sequence[Item],
        documents: Documents,
        table: StageTable,
        parameters: Parameters,
    ) -> tuple[Data, list[Problem]]:
        """Return {"entries": […]}, one per item, and what is wrong."""
        return form.clean(data, items, table_as(table, FormTable).fields)

    def parts_done(self, data: Mapping[str, object]) -> int:
        """Return how many forms of a draft somebody has begun."""
        return form.n_begun(data)


def filled_in(data: Data) -> list[tuple[str, str, Mapping[str, object]]]:
    """Return (item id, what stands in the first field, payload of the others) of each entry."""
    found: list[tuple[str, str, Mapping[str, object]]] = []
    for entry in cast(Sequence[CleanedEntry], data["entries"]):
        (_, first), *others = entry["fields"].items()
        found.append((entry["item"], first, {"fields": dict(others)}))
    return found
