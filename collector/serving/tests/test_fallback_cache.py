"""The cache forgives that Redis is away."""

from typing import Any

import pytest
from redis import Redis

from collector.serving import fallback_cache
from collector.serving.fallback_cache import FallbackCache
from tests import services

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback_cache, "_again_at", [0.0])


def uses(cache: Any) -> None:
    """Count, keep and drop, as pages do."""
    cache.delete("tries")
    assert cache.get("tries", 0) == 0
    assert cache.add("tries", 0, 300)
    assert [cache.incr("tries"), cache.incr("tries")] == [1, 2]
    assert not cache.add("tries", 0, 300)
    assert cache.get("tries") == 2
    assert cache.touch("tries", 5)
    assert cache.delete("tries")
    cache.set("draft", {"text": "a"}, 10)
    assert cache.get("draft") == {"text": "a"}


def test_without_redis_it_keeps_things_in_this_process() -> None:
    cache = FallbackCache("redis://127.0.0.1:1/0", {})
    uses(cache)
    assert fallback_cache._again_at[0] > 0
    assert FallbackCache("redis://127.0.0.1:1/0", {}).get("draft") == {"text": "a"}


def test_with_redis_all_processes_share_it() -> None:
    with services.redis() as url:
        uses(FallbackCache(url, {"KEY_PREFIX": "forgiving"}))
        assert fallback_cache._again_at[0] == 0
        assert Redis.from_url(url).get("forgiving:1:draft")


def test_a_count_that_redis_had_goes_on_without_it() -> None:
    cache = FallbackCache("redis://127.0.0.1:1/0", {})
    cache.delete("begun-elsewhere")
    assert cache.incr("begun-elsewhere") == 1
