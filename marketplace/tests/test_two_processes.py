"""Two processes on one database: what another one commits between two statements of a call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from marketplace import clock
from marketplace.hits.lifecycle import settle_due
from marketplace.router import DATABASE


@contextmanager
def meanwhile(act: Callable[[], Any], after: str) -> Iterator[None]:
    """Let another process act once, right after the first statement that has these words."""
    done: list[str] = []

    def run(execute: Any, sql: str, values: Any, many: bool, context: Any) -> Any:
        result = execute(sql, values, many, context)
        if not done and after in sql:
            done.append(sql)
            act()
        return result

    with connections[DATABASE].execute_wrapper(run):
        yield
    assert done, f"no statement has {after!r}"


def settle_all() -> None:
    settle_due(clock.now())


@pytest.mark.parametrize("name", ["list_hits", "list_reviewable_hits"])
def test_a_list_of_hits_is_not_empty_because_another_process_settles_what_is_due(
    rita: Any, make_hit: Any, later: Any, name: str
) -> None:
    hit = make_hit(rita)
    later(days=2)
    with meanwhile(settle_all, after="next_due_at"):
        found = getattr(rita, name)()
    assert [one["HITId"] for one in found["HITs"]] == [hit["HITId"]]


def test_the_balance_has_the_money_that_another_process_has_just_freed(
    rita: Any, make_hit: Any, later: Any
) -> None:
    make_hit(rita)
    later(days=2)
    with meanwhile(settle_all, after="marketplace_accesskey"):
        found = rita.get_account_balance()
    assert (found["AvailableBalance"], found["OnHoldBalance"]) == ("10000.00", "0.00")
