"""Stores proposed sets, and keeps or drops them: by whom and when is on the row."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from collector.candidates.proposals import CandidatesError, Proposal, Proposer
from collector.models import (
    CandidateMember,
    CandidateSet,
    Collection,
    CollectionState,
    PairTrial,
    SetState,
)


@dataclass(frozen=True)
class AddedSets:
    """The sets that were stored, and the names of those that were there already."""

    new: list[CandidateSet]
    there: list[str]


def add_sets(
    collection: Collection,
    proposer: Proposer,
    proposals: Iterable[Proposal],
    now: datetime,
    kept_by: str = "",
) -> AddedSets:
    """Store proposals; a set of that role and name that is there stays as it is.

    `kept_by`: who keeps them unseen; blank, they wait for a decision. Raises CandidatesError for a
    collection whose pairs are drawn already.
    """
    new: list[CandidateSet] = []
    there: list[str] = []
    with _changing(collection):
        for proposal in proposals:
            row, created = CandidateSet.objects.get_or_create(
                collection=collection,
                role=proposal.role,
                name=proposal.name,
                defaults={
                    "source": proposal.source,
                    "n_missing": proposal.n_missing,
                    "created_at": now,
                    "state": SetState.KEPT if kept_by else SetState.PROPOSED,
                    "decided_by": kept_by,
                    "decided_at": now if kept_by else None,
                },
            )
            if not created:
                there.append(row.name)
                continue
            CandidateMember.objects.bulk_create(
                CandidateMember(candidate_set=row, article_id=article)
                for article in proposer.articles(proposal.nodes)
            )
            new.append(row)
    return AddedSets(new, there)


def decide(each: CandidateSet, state: str, by: str, now: datetime) -> int:
    """Keep or drop the set, or undo either by proposing it again.

    Seeds that were chosen from other sets are let go; returns how many. Raises CandidatesError
    once HITs are out.
    """
    with _changing(each.collection) as collection:
        row = CandidateSet.objects.get(pk=each.pk)
        drawn_from = SetState.KEPT in (row.state, state) and row.state != state
        decided = state != SetState.PROPOSED
        row.state = state
        row.decided_by, row.decided_at = (by, now) if decided else ("", None)
        row.save(update_fields=["state", "decided_by", "decided_at"])
        lost = collection.seeds.count() if drawn_from else 0
        if lost:
            collection.seeds.all().delete()
    return lost


def keep_all(collection: Collection, role: str, by: str, now: datetime) -> int:
    """Keep every set of a role that waits for a decision, as if each were kept by itself.

    Seeds that were chosen from other sets are let go; returns how many. Raises CandidatesError
    once HITs are out.
    """
    with _changing(collection) as row:
        waiting = row.candidate_sets.filter(role=role, state=SetState.PROPOSED)
        kept = waiting.update(state=SetState.KEPT, decided_by=by, decided_at=now)
        lost = row.seeds.count() if kept else 0
        if lost:
            row.seeds.all().delete()
    return lost


def try_pair(
    each: CandidateSet, pair: tuple[int, int], works: bool | None, by: str, now: datetime
) -> None:
    """Note whether a question can be asked about a pair of articles; None takes the note back."""
    if works is None:
        each.trials.filter(first_id=pair[0], second_id=pair[1]).delete()
        return
    PairTrial.objects.update_or_create(
        candidate_set=each,
        first_id=pair[0],
        second_id=pair[1],
        defaults={"works": works, "by": by, "at": now},
    )


@contextmanager
def _changing(collection: Collection) -> Iterator[Collection]:
    """Give the collection, locked; raises CandidatesError once it is published."""
    with transaction.atomic():
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        if row.state != CollectionState.DRAFT:
            raise CandidatesError(
                "What pairs are drawn from decides the data, and is locked since the first "
                "publication: create another collection and copy the sets you want."
            )
        yield row
