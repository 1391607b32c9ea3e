"""Looks a protocol's folder through before anything is collected by it: every part, every stage.

What is missing or wrong is named at once, by file and place, and not to the first worker who needs
it.
"""

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.module_loading import import_string

from collector.protocols.loading import Protocol, ProtocolError
from collector.protocols.parameters import Parameters
from collector.protocols.part_contract import PARAMETERS, Part

# What upper rooms ask of a folder, and what they know, is found by its name.
SEEDS, CURATED_SEEDS = (
    f"collector.seeds.seed_contracts.{part}" for part in ("SEEDS", "CURATED_SEEDS")
)
NEEDED = (
    "collector.seeds.seed_contracts.SPLITS",
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
