"""Which readers can judge a collection's questions, and which of them this machine can train."""

from collections.abc import Mapping

from annotation.protocols import contracts
from annotation.protocols.contracts import DifficultyTable
from collector.models import Collection
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from readers.reader import LIGHT, READERS
from readers.trained import INSTALL, is_installed


def readers_of(collection: Collection) -> Mapping[str, str]:
    """Return MODULE:CLASS of each reader by name: those of every protocol and its own."""
    protocol = get_protocol(collection.protocol)
    if not protocol.has(contracts.READERS, "READERS"):
        return READERS
    return {**READERS, **protocol.part(contracts.READERS).READERS}


def chosen_reader(collection: Collection, table: DifficultyTable, name: str = "") -> str:
    """Return the name of the reader to train, the table's where none is given.

    Raises ActionError for one that there is not.
    """
    chosen = name or table.reader
    known = readers_of(collection)
    if chosen not in known:
        raise ActionError(
            f"There is no reader {chosen} for {collection.slug}: take {' or '.join(known)}."
        )
    return chosen


def can_train(reader: str) -> bool:
    """Return whether this machine has what the reader is trained with."""
    return reader in READERS or is_installed()


def check_trainable(reader: str) -> None:
    """Raise ActionError that says what to install where this machine cannot train the reader."""
    if not can_train(reader):
        raise ActionError(f"{INSTALL}. The reader {reader} needs them; {LIGHT} needs no more.")
