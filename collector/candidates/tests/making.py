"""Builds what tests of candidate sets start from: islands with categories, and a collection."""

from pathlib import Path
from typing import Any

from django.utils import timezone

from collector.graph.tests.making import make_islands
from collector.models import Collection, Corpus
from collector.protocols.loading import get_protocol

TOWNS = {
    "Hollin": "'''Hollin''' is near [[Staith]] and [[Quern]].\n[[Category:Towns]]",
    "Staith": "'''Staith''' is near [[Quern]], where [[Ada]] lived.\n[[Category:Towns]]",
    "Quern": "'''Quern''' is near [[Hollin]].\n[[Category:Towns]]",
    "Lonely": "'''Lonely''' is near nothing.\n[[Category:Towns]]",
    "Old Quern": "#REDIRECT [[Quern]]",
    "Ada": "'''Ada''' lived in [[Old Quern]] with [[Grace]].\n[[Category:People]]",
    "Grace": "'''Grace''' lived in [[Hollin]].\n[[Category:People]]",
    "List of towns": "Towns by size.\n* [[Hollin]], where [[Grace]] lived\n* [[Old Quern]]\n* None",
    "Empty list": "Nothing is listed.",
}
SMALL = {
    "seeds.min_default_pages": 2,
    "seeds.max_default_share": 0.5,
    "seeds.most_linked": 3,
}


def make_towns(folder: Path, slug: str = "towns") -> Corpus:
    """Return a corpus of towns and people, read from a dump."""
    return make_islands(folder, TOWNS, slug)


def make_pairs(corpus: Corpus, slug: str = "pilot", **changes: Any) -> Collection:
    """Return a collection in draft whose seeds are pairs, with some of its `seeds` changed."""
    changed = {f"seeds.{name}": value for name, value in changes.items()}
    parameters = get_protocol("hotpotqa").parameters(SMALL | changed)
    made = Collection.objects.create(
        slug=slug,
        title=slug.capitalize(),
        protocol="hotpotqa",
        protocol_version=parameters.protocol.version,
        corpus=corpus,
        parameters=parameters.model_dump(mode="json"),
        random_seed=7,
        requester_name="Rita",
        requester_contact="rita@example.org",
        created_at=timezone.now(),
    )
    for position, (name, table) in enumerate(parameters.stages().items()):
        made.stages.create(name=name, kind=table.kind, position=position)
    return made
