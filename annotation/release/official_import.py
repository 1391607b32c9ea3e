"""Stores published files as a collection of its own: to replay, compare and release again."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import PurePath
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

from django.db import DatabaseError, transaction

from annotation.decisions.records import main_stages
from annotation.decisions.verdicts import voting_stages
from annotation.models import OfficialArticle, OfficialFile, SplitAssignment, Verdict
from annotation.protocols.contracts import EXPORT
from annotation.records.schema import (
    PassageRecord,
    QuestionRecord,
    SeedRecord,
    VoteRecord,
)
from collector.models import (
    Article,
    Collection,
    CollectionState,
    Corpus,
    Paragraph,
    Section,
    Seed,
    SeedParagraph,
    Stage,
)
from collector.models.corpus import CorpusKind, CorpusState
from collector.protocols.creation import create_collection, parameters_of
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from common.storable import storable
from tasks.models import Answer, Question

BATCH = 500
MAX_TITLE = 300
# Of sentences that published files have cut.
SPLITTER = "published"
Item = TypeVar("Item")


@dataclass(frozen=True)
class Source:
    """What the files do not say of themselves: their language and the licence of their text."""

    language: str = "en"
    licence_name: str = ""
    licence_url: str = ""


def import_official_files(
    slug: str,
    protocol: str,
    files: Mapping[str, bytes],
    source: Source,
    now: datetime,
    overrides: Mapping[str, object] | None = None,
) -> Collection:
    """Return a finished collection of what the official `files` hold, by name; all or nothing.

    overrides: parameters by their dotted names, where others are wanted than the protocol's. Its
    corpus, of the same slug, has the passages; every question is kept with its answers.
    Raises ValueError naming the file for a wrong layout, ProtocolError, ActionError for a
    taken slug, and ActionError.
    """
    published = get_protocol(protocol).part(EXPORT).published(files)
    if Corpus.objects.filter(slug=slug).exists():
        raise ActionError(f"There is already a corpus {slug!r}: choose another name.")
    try:
        with transaction.atomic():
            collection = _collection(slug, protocol, files, source, now, dict(overrides or {}))
            OfficialFile.objects.bulk_create(
                OfficialFile(
                    collection=collection,
                    name=PurePath(name).name,
                    split=published.splits[name],
                    sha256=hashlib.sha256(content).hexdigest(),
                    size_bytes=len(content),
                )
                for name, content in files.items()
            )
            writer = _Rows(collection, now)
            for seeds in _batches(published.seeds):
                writer.add(seeds)
            for batch in _batches(enumerate(published.articles or ())):
                OfficialArticle.objects.bulk_create(
                    OfficialArticle(
                        collection=collection,
                        position=position,
                        title=article["title"],
                        content=article["imported"] or "",
                    )
                    for position, article in batch
                )
    except (DatabaseError, UnicodeEncodeError) as error:
        reason = str(error).partition("\n")[0]
        raise ActionError(
            f"The database cannot store what the files hold ({reason}); nothing was stored. "
            "Mend the files, or use another database."
        ) from None
    return collection


def _collection(
    slug: str,
    protocol: str,
    files: Mapping[str, bytes],
    source: Source,
    now: datetime,
    overrides: dict[str, object],
) -> Collection:
    names = ", ".join(PurePath(name).name for name in files)
    corpus = storable(
        Corpus(
            slug=slug,
            name=f"the passages of {slug}",
            kind=CorpusKind.IMPORTED,
            language=source.language,
            licence_name=source.licence_name,
            licence_url=source.licence_url,
            source=names,
            state=CorpusState.READY,
        )
    )
    corpus.save(force_insert=True)
    collection = create_collection(
        slug,
        get_protocol(protocol),
        corpus,
        overrides=overrides,
        seed=0,
        now=now,
        title=slug,
        requester_name="The authors of the published files",
        requester_contact="",
    )
    collection.state = CollectionState.FINISHED
    collection.save(update_fields=["state"])
    return collection


class _Rows:
    """Writes seeds with their passages, questions, answers, verdicts and split assignments."""

    def __init__(self, collection: Collection, now: datetime) -> None:
        self.collection, self.now = collection, now
        self.stages = {stage.name: stage for stage in collection.stages.all()}
        self.asking: Stage = self.stages[main_stages(collection)[0]]
        voting = voting_stages(parameters_of(collection))[self.asking.name]
        # Where the files do not say who gave an answer.
        self.answering: Stage = self.stages[voting[-1]]
        # By the title: the rows of the article and of its section.
        self.sections: dict[str, tuple[int, int]] = {}
        self.n_paragraphs: dict[str, int] = {}
        self.n_seeds = 0

    def add(self, records: list[SeedRecord]) -> None:
        """Write one batch."""
        seeds = Seed.objects.bulk_create(
            Seed(
                collection=self.collection,
                key=self._key("seed", record["key"]),
                position=position,
                fold=record["fold"],
                stage=self.asking,
                payload=record["payload"],
            )
            for position, record in enumerate(records, self.n_seeds + 1)
        )
        self.n_seeds += len(records)
        placed = [
            (seed, position, passage)
            for seed, record in zip(seeds, records, strict=True)
            for position, passage in enumerate(record["passages"])
        ]
        titles = (passage["title"] for _, _, passage in placed)
        new = dict.fromkeys(title[:MAX_TITLE] for title in titles)
        articles = Article.objects.bulk_create(
            Article(corpus=self.collection.corpus, page_id=number, title=title, revision_id=0)
            for number, title in enumerate(
                (title for title in new if title not in self.sections), len(self.sections) + 1
            )
        )
        sections = Section.objects.bulk_create(
            Section(article=article, position=0, level=0) for article in articles
        )
        self.sections |= {each.article.title: (each.article_id, each.pk) for each in sections}
        paragraphs = Paragraph.objects.bulk_create(
            self._paragraph(passage) for _, _, passage in placed
        )
        SeedParagraph.objects.bulk_create(
            SeedParagraph(seed=seed, paragraph=paragraph, position=position)
            for (seed, position, _), paragraph in zip(placed, paragraphs, strict=True)
        )
        asked = [
            (seed, position, question)
            for seed, record in zip(seeds, records, strict=True)
            for position, question in enumerate(record["questions"])
        ]
        questions = Question.objects.bulk_create(
            Question(
                stage=self.asking,
                position=position,
                seed=seed,
                key=self._key("question", question["key"]),
                text=question["text"],
                payload=question["payload"],
                created_at=self.now,
            )
            for seed, position, question in asked
        )
        voted = [
            (row, vote)
            for row, (_, _, question) in zip(questions, asked, strict=True)
            for vote in question["votes"]
        ]
        answers = Answer.objects.bulk_create(
            Answer(
                question=row,
                stage=self.stages.get(vote["stage"], self.answering),
                type=vote["type"][:20],
                payload=vote["payload"],
                created_at=self.now,
            )
            for row, vote in voted
        )
        cast: dict[int, list[tuple[Answer, VoteRecord]]] = {row.pk: [] for row in questions}
        for answer, (row, vote) in zip(answers, voted, strict=True):
            cast[row.pk].append((answer, vote))
        self._store_verdicts(questions, cast, [question for _, _, question in asked])

    def _paragraph(self, passage: PassageRecord) -> Paragraph:
        title = passage["title"][:MAX_TITLE]
        article, section = self.sections[title]
        position = self.n_paragraphs.get(title, 0)
        self.n_paragraphs[title] = position + 1
        return Paragraph(
            article_id=article,
            section_id=section,
            position=position,
            text=passage["text"],
            links=passage["links"],
            n_links=len({target for _, _, target in passage["links"]}),
            sentences=passage.get("sentences"),
            splitter=SPLITTER if "sentences" in passage else "",
        )

    def _store_verdicts(
        self,
        rows: list[Question],
        cast: Mapping[int, list[tuple[Answer, VoteRecord]]],
        questions: list[QuestionRecord],
    ) -> None:
        verdicts, split_assignments = [], []
        for row, question in zip(rows, questions, strict=True):
            votes = cast[row.pk]
            told, split = question["verdict"], question["split"]
            assert told is not None
            assert split is not None
            verdicts.append(
                Verdict(
                    question=row,
                    outcome=told["outcome"],
                    reason=told["reason"],
                    sentence=told["sentence"],
                    chosen=next(answer for answer, vote in votes if vote["chosen"]),
                    agreeing=[answer.pk for answer, vote in votes if vote["agrees"]],
                    n_votes=len(votes),
                    decided_at=self.now,
                )
            )
            split_assignments.append(
                SplitAssignment(
                    question=row, split=split, reason=told["reason"], placed_at=self.now
                )
            )
        Verdict.objects.bulk_create(verdicts)
        SplitAssignment.objects.bulk_create(split_assignments)

    def _key(self, what: str, key: str) -> str:
        return uuid5(NAMESPACE_URL, f"{what}\n{key}").hex


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(islice(iterator, BATCH)):
        yield batch
