"""Any process dies in the middle of dialogs: they go on, and what was taken is there."""

import time
from pathlib import Path

import pytest
from django.db import connection

from tests.rehearsals import part_of, restartable_services
from tests.rehearsals.deployed_processes import CLOCK, DIALOGS, JOBS, LIVE, Deployed, wait_until
from tests.rehearsals.dialog_crowds import Crowd, Plan
from tests.rehearsals.dialogs import HERE, LEAD_SECONDS, LONG

pytestmark = pytest.mark.django_db(transaction=True)
N_DIALOGS = part_of(50)
# Between one kill and the next; then everybody closes the page.
SECONDS = 20
DOWN_SECONDS = 2
SHORT = {**LONG, "dialog.grace_seconds": 30, "dialog.ready_seconds": 60}


def test_whatever_is_killed_no_dialog_is_lost(tmp_path: Path) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("Kills are rehearsed on PostgreSQL: run `make rehearse`")
    with restartable_services.postgresql() as database, restartable_services.redis() as redis:
        instance = begun(tmp_path, database, redis)
        try:
            kill_each(instance, database, redis)
        finally:
            instance.close()


def begun(
    home: Path,
    database: restartable_services.RunningService,
    redis: restartable_services.RunningService,
) -> Deployed:
    """Return an instance on servers of its own, its databases made."""
    server = f"postgres://collector@127.0.0.1:{database.port}"
    restartable_services.make_databases(f"{server}/postgres", "collector", "marketplace")
    settings = {
        "DATABASE_URL": f"{server}/collector",
        "MARKETPLACE_DATABASE_URL": f"{server}/marketplace",
        "REDIS_URL": f"redis://127.0.0.1:{redis.port}/0",
    }
    instance = Deployed(home, settings, (LIVE, JOBS, DIALOGS, CLOCK))
    instance.start()
    return instance


def kill_each(
    instance: Deployed,
    database: restartable_services.RunningService,
    redis: restartable_services.RunningService,
    n_dialogs: int = N_DIALOGS,
    seconds: float = SECONDS,
) -> None:
    """Kill one after another while people talk; then all of it must add up."""
    tokens = instance.call(f"{HERE}:lay_out", 2 * n_dialogs, n_dialogs + 2, SHORT)
    begin = time.time() + LEAD_SECONDS
    kills = (LIVE, DIALOGS, JOBS, redis, database)
    until = begin + 2 * n_dialogs / 20 + 5 + len(kills) * (seconds + 6)
    plan = Plan(instance.socket, instance.origin, begin, 20, every_seconds=2.0, until=until, seed=5)
    crowd = Crowd(instance, tokens, plan, 2)
    time.sleep(begin + 2 * n_dialogs / 20 + 5 - time.time())
    for victim in kills:
        before = instance.call(f"{HERE}:state")
        kill(instance, victim)
        time.sleep(seconds)
        after = instance.call(f"{HERE}:state")
        name = victim if isinstance(victim, str) else victim.name
        print(f"{name} killed: {before['turns']} turns before, {after['turns']} after; {after}")
        assert after["turns"] > before["turns"] + n_dialogs, f"{name}: the dialogs stand still"
    seen = crowd.seen()
    stored = set(instance.call(f"{HERE}:messages"))
    taken = [message for one in seen for message in one["taken"]]
    assert taken
    assert set(taken) <= stored, f"{len(set(taken) - stored)} turns were lost"
    assert not any(one["error"] for one in seen), {one["error"] for one in seen}
    print(f"{len(taken)} messages were said to be taken; all of them are there")
    check_closed(instance)


def kill(instance: Deployed, victim: "str | restartable_services.RunningService") -> None:
    """Kill a process without warning and start it again a little later."""
    if isinstance(victim, str):
        instance.kill(victim)
        time.sleep(DOWN_SECONDS)
        instance.start_one(victim)
        return
    victim.kill()
    time.sleep(DOWN_SECONDS)
    victim.start()


def check_closed(instance: Deployed) -> None:
    """Everybody has gone: every dialog is closed, and every turn is owed for."""

    def is_closed() -> bool:
        found = instance.call(f"{HERE}:state")
        return set(found["states"]) == {"over"} and not found["over_unsettled"]

    assert wait_until(is_closed, 150), instance.call(f"{HERE}:state")
    found = instance.call(f"{HERE}:state")
    assert found["owed_cents"] == found["earned_cents"] > 0
    assert found["spent_cents"] == found["payments_cents"]
    print(found)
