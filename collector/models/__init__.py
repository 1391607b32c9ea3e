"""The rows of what is read and of what is collected from it."""

from collector.models.article import Article, Section
from collector.models.candidate_sets import (
    CandidateMember,
    CandidateSet,
    PairTrial,
    SetRole,
    SetState,
)
from collector.models.category import ArticleCategory, Category, Subcategory
from collector.models.collection import (
    Collection,
    CollectionRevision,
    CollectionState,
    CollectionText,
)
from collector.models.corpus import Corpus, DumpFile, SkippedPage
from collector.models.link_graph import LinkGraph
from collector.models.paragraph import Paragraph
from collector.models.seed import DroppedSeed, Seed, SeedParagraph
from collector.models.stage import Stage, StageState
from collector.models.user import User

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
    "SkippedPage",
    "Stage",
    "StageState",
    "Subcategory",
    "User",
]
