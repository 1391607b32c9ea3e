"""Finds or makes the collection and the corpus that old results go to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from collector.models import Collection, CollectionState, Corpus
from collector.models.corpus import CorpusKind, CorpusState
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import Protocol
from collector.protocols.parameters import Parameters
from common.actions import ActionError
from common.storable import storable
from tasks.models import Posting
from tasks.models.people import ARCHIVE


@dataclass(frozen=True)
class Destination:
    """Where results go: the collection and the corpus, None as long as they are not made."""

    slug: str
    protocol: Protocol
    corpus_slug: str
    overrides: dict[str, Any]
    collection: Collection | None
    corpus: Corpus | None
    parameters: Parameters


def find_destination(
    slug: str, protocol: Protocol, corpus_slug: str, overrides: dict[str, Any]
) -> Destination:
    """Return what is there of the place; raises ActionError where results cannot go to it."""
    collection = Collection.objects.filter(slug=slug).select_related("corpus").first()
    corpus = Corpus.objects.filter(slug=corpus_slug).first()
    wanted = protocol.parameters(overrides)
    if collection is None:
        return Destination(slug, protocol, corpus_slug, overrides, None, corpus, wanted)
    others = Posting.objects.filter(stage__collection=collection).exclude(provider=ARCHIVE)
    if collection.protocol != protocol.name or collection.corpus != corpus or others.exists():
        raise ActionError(
            f"The collection {slug!r} has another protocol, another corpus or work of its own: "
            "choose another name for the old results."
        )
    parameters = parameters_of(collection)
    if overrides and wanted != parameters:
        raise ActionError(
            f"The collection {slug!r} was made with other parameters: leave --set out, or choose "
            "another name."
        )
    return Destination(slug, protocol, corpus_slug, overrides, collection, corpus, parameters)


def get_or_create_collection(destination: Destination, language: str, now: datetime) -> Collection:
    """Return the collection of the place, made if it is not there; it is finished: no HITs."""
    if destination.collection:
        return destination.collection
    corpus = destination.corpus
    if corpus is None:
        corpus = storable(
            Corpus(
                slug=destination.corpus_slug,
                name=f"the passages of {destination.slug}",
                kind=CorpusKind.IMPORTED,
                language=language,
                source="old results",
                state=CorpusState.READY,
            )
        )
        corpus.save()
    collection = create_collection(
        destination.slug,
        destination.protocol,
        corpus,
        overrides=destination.overrides,
        seed=0,
        now=now,
        requester_name="The requester of the old results",
        requester_contact="",
    )
    collection.state = CollectionState.FINISHED
    collection.save(update_fields=["state"])
    return collection
