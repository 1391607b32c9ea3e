"""Sets for a collection that was given none: categories of its corpus."""

from datetime import datetime

from collector.candidates.decisions import AddedSets, add_sets
from collector.candidates.proposals import Proposer
from collector.models import Collection, SetRole
from collector.protocols.parameters import CuratedTable

# Who keeps sets that nobody has looked at.
UNSEEN = "nobody: kept unseen"


def propose_defaults(
    collection: Collection, rule: CuratedTable, now: datetime, keep: bool = False
) -> AddedSets:
    """Propose categories as sets and lists where the collection has none at all.

    They are kept at once only where `keep` or `seeds.keep_defaults` says so. Raises
    CandidatesError after the publication, GraphError.
    """
    if collection.candidate_sets.exists():
        return AddedSets([], [])
    proposer = Proposer(collection.corpus)
    cut = Proposer(collection.corpus, rule.most_linked)
    proposals = [
        *cut.defaults(
            SetRole.BRIDGE, rule.default_sets, rule.min_default_pages, rule.max_default_share
        ),
        *proposer.defaults(
            SetRole.COMPARISON, rule.default_lists, rule.min_default_pages, rule.max_default_share
        ),
    ]
    kept_by = UNSEEN if keep or rule.keep_defaults else ""
    return add_sets(collection, proposer, proposals, now, kept_by)
