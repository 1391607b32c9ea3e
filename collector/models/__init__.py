"""The rows of what is read and of what is collected from it."""

from collector.models.article import (
    Article,
    ArticleCategory,
    Category,
    Paragraph,
    Section,
    Subcategory,
)
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
from collector.models.seed import DroppedSeed, Seed, SeedParagraph
from collector.models.user import SignInTries, User

__all__ = [
    "Article",
    "ArticleCategory",
    "CandidateMember",
    "CandidateSet",
    "Category",
    "Collection",
    "CollectionRevision",
    "CollectionState",
    "CollectionText",
    "Corpus",
    "DroppedSeed",
    "DumpFile",
    "LinkGraph",
    "PairTrial",
    "Paragraph",
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
