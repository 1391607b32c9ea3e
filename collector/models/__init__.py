"""The rows of what is read and of what is collected from it."""

from collector.models.article import (
    Article,
    ArticleCategory,
    Category,
    Paragraph,
    Section,
    Subcategory,
)
from collector.models.book import Book, BookKind, BookQuestion, Chapter, Passage
from collector.models.candidate_sets import (
    CandidateMember,
    CandidateSet,
    PairTrial,
    SetRole,
    SetState,
)
from collector.models.collection import (
    Collection,
    CollectionRevision,
    CollectionState,
    CollectionText,
    Stage,
    StageState,
)
from collector.models.corpus import Corpus, DumpFile, LinkGraph, SkippedPage
from collector.models.document import (
    Document,
    DocumentUpload,
)
from collector.models.known_protocols import KnownProtocols
from collector.models.seed import DroppedSeed, Seed, SeedParagraph
from collector.models.user import SignInTries, User

__all__ = [
    "Article",
    "ArticleCategory",
    "Book",
    "BookKind",
    "BookQuestion",
    "CandidateMember",
    "CandidateSet",
    "Category",
    "Chapter",
    "Collection",
    "CollectionRevision",
    "CollectionState",
    "CollectionText",
    "Corpus",
    "Document",
    "DocumentUpload",
    "DroppedSeed",
    "DumpFile",
    "KnownProtocols",
    "LinkGraph",
    "PairTrial",
    "Paragraph",
    "Passage",
    "Section",
    "Seed",
    "SeedParagraph",
    "SetRole",
    "SetState",
    "SignInTries",
    "SkippedPage",
    "Stage",
    "StageState",
    "Subcategory",
    "User",
]
