"""The rules by which sets of passages are drawn, and what a protocol says of them."""

from typing import Self

from pydantic import Field, model_validator

from collector.protocols.parameters import AtMost, Table

SINGLE, SHARED_TERMS, CITATION, SECTION = "single", "shared_terms", "citation", "section"
RULES = (SINGLE, SHARED_TERMS, CITATION, SECTION)


class SharesTable(Table):
    """How many of the sets each rule draws; the sum is 1."""

    single: float = Field(ge=0, le=1)
    """One passage alone."""
    shared_terms: float = Field(ge=0, le=1)
    """Passages of different documents that have rare names or words in common."""
    citation: float = Field(ge=0, le=1)
    """A passage that links to another document or names it, and a passage of that document."""
    section: float = Field(ge=0, le=1)
    """Passages of one document that stand under one heading."""

    @model_validator(mode="after")
    def _all_of_them(self) -> Self:
        if abs(sum(getattr(self, rule) for rule in RULES) - 1) > 1e-6:
            raise ValueError(f"the shares of {', '.join(RULES)} must sum to 1")
        return self


class PassageSetsTable(Table):
    """Which sets of passages are drawn."""

    min_characters: int = Field(ge=0)
    """Shorter passages are left out."""
    max_characters: int = Field(ge=1)
    """Longer passages are left out."""
    shares: SharesTable
    """How many of the sets each rule draws; what a rule cannot draw is drawn by the others."""
    three_share: float = Field(ge=0, le=1)
    """So many of the sets that can have a third passage get one."""
    max_documents_with_term: int = Field(ge=2, le=50)
    """A name or word that more documents have connects no passages."""
    max_per_document: int = Field(ge=1)
    """The most sets that a document takes part in."""
    max_share_together: float = Field(gt=0, le=1)
    """At most so many of the documents are connected by sets: all of these are in one split."""
    near_duplicate_share: float = Field(ge=0.4, le=1)
    """Passages that share so much of their wording are taken for the same."""
    AT_MOST = (AtMost("min_characters", "max_characters"),)
