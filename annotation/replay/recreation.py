"""Lays out the collection of a log anew: same parameters, words, seeds and key, nobody's work."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from annotation.models import Statement
from annotation.release.log import Log, LogError, SeedLine, text_sha256
from collector.models import Collection, CollectionRevision, Corpus, Paragraph
from collector.models.collection import LONGEST_CLAIM
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import PARAMETERS, get_protocol
from collector.protocols.parameters import PeopleTable
from collector.seeds.candidate import Candidate
from collector.seeds.selection import candidates_of, is_curated, propose_sets, store_seeds
from tasks.models import Worker

# A replay makes its own units and HITs, in the order of the log: no job does it meanwhile. It
# claims the collection anew at every step; one that died leaves it to the jobs after so long.
OWN_MAINTENANCE = LONGEST_CLAIM
SEEDS_AT_ONCE = 200


def recreate_collection(log: Log, corpus: Corpus, now: datetime) -> Collection:
    """Return the log's collection, a draft over `corpus`, with its seeds.

    Raises LogError where this database or corpus cannot hold it, ActionError for a taken name,
    ProtocolError for another version of the protocol; then nothing is left behind.
    """
    line = log.collection
    protocol = get_protocol(line.protocol)
    version = protocol.part(PARAMETERS).VERSION
    if version != line.protocol_version:
        raise LogError(
            f"The log is of version {line.protocol_version} of the protocol {line.protocol!r}, "
            f"this installation has version {version}: replay it with the other one."
        )
    if Worker.objects.filter(pk__in={one.worker for one in log.assignments}).exists():
        raise LogError("This database knows workers of the log: replay it in an empty one.")
    protocol.resolved(line.parameters, stored=True)
    with transaction.atomic():
        collection = create_collection(
            line.slug,
            protocol,
            corpus,
            overrides={},
            seed=line.seed,
            now=now,
            title=line.title,
            budget_cents=line.budget_cents,
            requester_name=line.requester_name,
            requester_contact=line.requester_contact,
            ethics_number=line.ethics_number,
        )
        # Who does it again is in none of the groups; the release says for whom it was.
        collection.parameters = {**line.parameters, "people": PeopleTable().model_dump()}
        collection.pseudonym_key = line.pseudonym_key
        collection.maintained_until = now + OWN_MAINTENANCE
        collection.save(update_fields=["parameters", "pseudonym_key", "maintained_until"])
        write_texts(collection, log, {text.text: 1 for text in log.texts}, now)
        collection.revisions.bulk_create(
            CollectionRevision(collection=collection, **revision.model_dump())
            for revision in log.revisions
        )
        Statement.objects.bulk_create(
            Statement(collection=collection, **statement.model_dump())
            for statement in log.statements
        )
        recreate_seeds(collection, log)
    return collection


def write_texts(collection: Collection, log: Log, newest: dict[str, int], now: datetime) -> None:
    """Write the words of the log up to the `newest` version of each name."""
    for text in log.texts:
        if text.version <= newest.get(text.text, 0):
            collection.texts.update_or_create(
                name=text.text,
                version=text.version,
                defaults={"markdown": text.markdown},
                create_defaults={"markdown": text.markdown, "created_at": now},
            )


def recreate_seeds(collection: Collection, log: Log) -> None:
    """Make the log's seeds of the paragraphs that it or their keys name; raises LogError."""
    wanted = {seed.key for seed in log.seeds}
    found = _told(collection.corpus, [seed for seed in log.seeds if seed.passages])
    if is_curated(collection):
        # Sets that a person has changed are not in the log: their seeds are missed below.
        propose_sets(collection)
    if any(not seed.passages for seed in log.seeds):
        for candidate in candidates_of(collection, parameters_of(collection)):
            if candidate.key in wanted:
                found.setdefault(candidate.key, candidate)
            if len(found) == len(wanted):
                break
    if len(found) < len(wanted):
        raise LogError(
            f"The corpus {collection.corpus.slug!r} lacks {len(wanted) - len(found)} of the "
            f"{len(wanted)} seeds of the log: it is not the one that was worked on. Read in the "
            "same dump, or name another corpus with --corpus."
        )
    store_seeds(
        collection, [(found[seed.key], seed.position, seed.stage, seed.fold) for seed in log.seeds]
    )


def _told(corpus: Corpus, seeds: Sequence[SeedLine]) -> dict[str, Candidate]:
    """Return by key the seeds whose passages the corpus has as the log tells them."""
    found: dict[str, Candidate] = {}
    for start in range(0, len(seeds), SEEDS_AT_ONCE):
        some = seeds[start : start + SEEDS_AT_ONCE]
        titles = {title for seed in some for title, _ in seed.passages}
        rows = Paragraph.objects.filter(article__corpus=corpus, article__title__in=titles)
        known = {(row.article.title, row.position): row for row in rows.select_related("article")}
        for seed in some:
            shown = [known[place] for place in seed.passages if place in known]
            texts = [row.text for row in shown]
            if text_sha256(texts) == seed.sha256:
                paragraphs = tuple(row.pk for row in shown)
                found[seed.key] = Candidate(seed.key, "\n".join(texts), paragraphs, seed.payload)
    return found
