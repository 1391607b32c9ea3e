"""A replay refuses a marketplace that knows its HITs, and one that fails leaves nothing held."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from annotation.release.log import LogError
from annotation.replay import remake_release
from annotation.replay.recreation import reprice
from annotation.tests.making import NOW, make_collection
from collector.models import Collection
from tasks.crowd import marketplace
from tasks.crowd.marketplace import Hit
from tasks.hits import token_of
from tasks.models import Posting

pytestmark = pytest.mark.django_db
LOG = SimpleNamespace(
    units={"u1": SimpleNamespace(stage="question")},
    collection=SimpleNamespace(pseudonym_key="k"),
)


def test_it_refuses_a_marketplace_that_has_hits_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {str(token_of("k", "question", 0)): Hit("H1", "T1")}
    monkeypatch.setattr(
        marketplace, "find_hits", lambda tokens: {one: known[one] for one in tokens if one in known}
    )
    with pytest.raises(LogError, match="The marketplace has HITs of this collection"):
        remake_release.check_unused(LOG)
    known.clear()
    remake_release.check_unused(LOG)


def test_a_replay_that_fails_leaves_the_collection_to_the_jobs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    collection = make_collection()

    def fail(step: object) -> None:
        assert callable(step)
        step()
        assert Collection.objects.get().maintained_until is not None
        raise LogError("It goes otherwise.")

    monkeypatch.setattr(marketplace, "find_hits", lambda tokens: {})
    monkeypatch.setattr(remake_release, "recreate_collection", lambda *given: collection)
    monkeypatch.setattr(remake_release, "Rerun", lambda *given: SimpleNamespace(run=fail))
    with pytest.raises(LogError, match="It goes otherwise"):
        remake_release.remake(LOG, collection.corpus, tmp_path, NOW)
    assert Collection.objects.get().maintained_until is None


def test_a_planned_hit_of_another_reward_holds_its_own_money() -> None:
    collection = make_collection()
    collection.state = "collecting"
    collection.budget_cents = 100_000
    collection.save()
    stage = collection.stages.get(name="question")
    before = collection.reserved_cents
    posting = Posting.objects.create(
        stage=stage,
        provider=marketplace.PROVIDER,
        environment=marketplace.environment(),
        token=token_of("k", "question", 0),
        state="publishing",
        reward_cents=400,
        reserved_cents=0,
        created_at=NOW,
        expires_at=NOW,
    )
    reprice(posting, 300)
    posting.refresh_from_db()
    collection.refresh_from_db()
    assert posting.reward_cents == 300
    assert collection.reserved_cents - before == posting.reserved_cents >= 300
    Collection.objects.update(budget_cents=collection.reserved_cents)
    with pytest.raises(LogError, match="does not suffice"):
        reprice(posting, 500)
    assert Posting.objects.get().reward_cents == 300
