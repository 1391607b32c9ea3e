"""Creates a collection: parameters resolved once, stages and texts copied from its protocol."""

import json
import secrets
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import IntegrityError, transaction

from collector.models import Collection, CollectionText, Corpus, Stage
from collector.protocols.loading import Protocol, ProtocolError, get_protocol
from collector.protocols.parameters import Parameters
from collector.protocols.part_contract import PARAMETERS, WITHHOLDING
from collector.protocols.wholeness import check_whole
from common.actions import ActionError
from common.storable import NotStorable, storable

SEED_BITS = 62


def withholds(protocol: Protocol) -> bool:
    """Return whether releases of the protocol keep answers of some splits back."""
    return bool(protocol.part(WITHHOLDING).WITHHELD)


def create_collection(
    slug: str,
    protocol: Protocol,
    corpus: Corpus,
    *,
    overrides: dict[str, object],
    seed: int | None,
    now: datetime,
    title: str = "",
    budget_cents: int = 0,
    requester_name: str,
    requester_contact: str,
    ethics_number: str = "",
    form_key: str = "",
) -> Collection:
    """Return a new collection in state draft, with its stages and the first version of its texts.

    Without a seed, one that nobody can guess is chosen where answers are to be withheld: whoever
    knew it could draw the same pairs. Elsewhere it is 0. form_key: of the form that makes it.

    Raises ActionError for a taken slug, for a form that has made one before, and for what no column
    can hold, ProtocolError for wrong parameters, and for what the protocol's folder lacks or has
    wrong.
    """
    parameters = protocol.parameters(overrides)
    check_whole(protocol, parameters)
    texts = {name: protocol.text(name) for name in ("consent", *parameters.stages())}
    collection = Collection(
        slug=slug,
        title=title or slug,
        protocol=protocol.name,
        protocol_version=parameters.protocol.version,
        corpus=corpus,
        parameters=parameters.model_dump(mode="json"),
        random_seed=_chosen(protocol) if seed is None else seed,
        budget_cents=budget_cents,
        requester_name=requester_name,
        requester_contact=requester_contact,
        ethics_number=ethics_number,
        created_at=now,
        form_key=form_key,
    )
    try:
        _write(storable(collection), parameters, texts)
    except NotStorable as error:
        raise ActionError(str(error)) from None
    except IntegrityError:
        raise ActionError(f"There is already a collection {slug!r}: choose another name.") from None
    return collection


def _chosen(protocol: Protocol) -> int:
    return secrets.randbits(SEED_BITS) if withholds(protocol) else 0


def _write(collection: Collection, parameters: Parameters, texts: dict[str, str]) -> None:
    with transaction.atomic():
        collection.save(force_insert=True)
        Stage.objects.bulk_create(
            Stage(collection=collection, name=name, kind=table.kind, position=position)
            for position, (name, table) in enumerate(parameters.stages().items())
        )
        CollectionText.objects.bulk_create(
            CollectionText(
                collection=collection,
                name=name,
                version=1,
                markdown=text,
                created_at=collection.created_at,
            )
            for name, text in texts.items()
        )


class StoredParameters(dict[str, Any]):
    """Parameters that nobody changes, with the JSON text that they were read from."""

    def __init__(self, text: str) -> None:
        super().__init__(json.loads(text))
        self.text = text


def parameters_of(collection: Collection) -> Parameters:
    """Return the collection's own typed parameters; raises ProtocolError.

    They are kept by their content: every page asks for them, and they hardly ever change.
    """
    text = parameters_text(collection)
    return _resolved(collection.protocol, collection.protocol_version, text)


def is_readable(collection: Collection) -> bool:
    """Return whether this process knows the collection's protocol and can read its parameters."""
    try:
        parameters_of(collection)
    except ProtocolError:
        return False
    return True


def parameters_text(collection: Collection) -> str:
    """Return the collection's own parameters as JSON text."""
    values = collection.parameters
    return values.text if isinstance(values, StoredParameters) else json.dumps(values)


@lru_cache(maxsize=64)
def _resolved(name: str, version: int, values: str) -> Parameters:
    """Return stored values as parameters, brought up to date by the protocol's `upgrade`.

    protocol.toml is not read again: a collection keeps what it was created with.
    """
    protocol = get_protocol(name)
    part = protocol.part(PARAMETERS)
    stored = json.loads(values)
    if version != part.VERSION:
        if not protocol.has(PARAMETERS, "upgrade"):
            raise ProtocolError(
                f"The collection was made with version {version} of the protocol {name!r}; this "
                f"installation has version {part.VERSION} and cannot read it. Install the other."
            )
        stored = part.upgrade(stored, version)
    return protocol.resolved(stored, stored=True)
