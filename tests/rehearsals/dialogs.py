"""What must hold of live dialogs, at whatever size: the suite asks small, the rehearsals large."""

import re
import time
from itertools import chain
from typing import Any

from tests.rehearsals.dialog_crowds import Crowd, Plan, pairing_times, percentile, relayed
from tests.serving import Instance

HERE = "tests.rehearsals.rows"
# Long enough for everybody's process to start.
LEAD_SECONDS = 4.0
# Nobody thinks for long here; when the last have come they have this time.
LAST_DIALOG_SECONDS = 60.0
# A run of so many words of the section is a leak.
RUN = 8
LONG = {
    "dialog.max_questions": 200,
    "dialog.max_unanswerable": 200,
    "dialog.allotted_minutes": 5000,
}

SHORT = {"dialog.max_questions": 6}


def relay(
    instance: Instance, address: tuple[str, str], n_pairs: int, seconds: float, processes: int = 1
) -> list[float]:
    """Return how long each message took to the partner: one every two seconds per pair."""
    tokens = instance.call(f"{HERE}:lay_out", 2 * n_pairs, n_pairs + 2, LONG)
    begin = time.time() + LEAD_SECONDS
    arriving = 2 * n_pairs / 20
    plan = Plan(*address, begin=begin, rate=20, every_seconds=2.0, until=begin + arriving + seconds)
    seen = Crowd(instance, tokens, plan, processes).seen()
    assert not any(one["error"] for one in seen), {one["error"] for one in seen}
    settled = {key for one in seen for key, at in one["sent"].items() if at > plan.until - 2}
    sent = {key for one in seen for key in one["sent"]} - settled
    heard = {key for one in seen for key in one["heard"] if key not in one["sent"]}
    assert sent <= heard, f"{len(sent - heard)} messages never arrived"
    return relayed(seen)


def pairing(
    instance: Instance,
    address: tuple[str, str],
    n_people: int,
    n_busy_pairs: int,
    *,
    rate: float = 20.0,
    processes: int = 4,
) -> list[float]:
    """Return the seconds from each second arrival to both being told, while others talk.

    Everybody is paired, once, and with somebody else.
    """
    n_busy = 2 * n_busy_pairs
    wanted = (n_people + n_busy) // 2
    tokens = instance.call(f"{HERE}:lay_out", n_people + n_busy, wanted + 10, LONG)
    begin = time.time() + LEAD_SECONDS
    come = begin + n_busy / rate + 8
    until = come + n_people / rate + 5
    busy = Crowd(
        instance,
        tokens[:n_busy],
        Plan(*address, begin=begin, rate=rate, every_seconds=2.0, until=until),
    )
    arriving = Plan(*address, begin=come, rate=rate, until=until, behaviour="silent", seed=100)
    seen = Crowd(instance, tokens[n_busy:], arriving, processes).seen()
    others = busy.seen()
    everybody = [*seen, *others]
    assert not any(one["error"] for one in everybody), {one["error"] for one in everybody}
    assert [len(one["told"]) for one in everybody] == [1] * len(everybody)
    check_pairs(instance, wanted)
    told = relayed(others)
    print(f"relay beside it: p95 {percentile(told, 0.95) * 1000:.0f} ms of {len(told)} messages")
    return list(pairing_times(seen).values())


def check_pairs(instance: Instance, n_dialogs: int) -> None:
    """Assert that there are so many dialogs, each of two people who are in no other."""
    assert instance.call(f"{HERE}:pairs") == {
        "dialogs": n_dialogs,
        "people": 2 * n_dialogs,
        "different_people": 2 * n_dialogs,
        "with_oneself": 0,
        "twice_on_a_section": 0,
    }


def secrecy(
    instance: Instance,
    address: tuple[str, str],
    n_dialogs: int,
    *,
    rate: float = 14.0,
    processes: int = 2,
) -> dict[str, int]:
    """Return what students received in so many dialogs; no run of the section is among it.

    rate: how many people come a second, of every behaviour in turn.
    """
    tokens = instance.call(f"{HERE}:lay_out", 2 * n_dialogs, n_dialogs + 10, SHORT, 240)
    begin = time.time() + LEAD_SECONDS
    plan = Plan(
        *address,
        begin=begin,
        rate=rate,
        until=begin + len(tokens) / rate + LAST_DIALOG_SECONDS,
        behaviour="mixed",
        keep=True,
        protocol="quac",
    )
    seen = Crowd(instance, tokens, plan, processes).seen()
    assert not any(one["error"] for one in seen), {one["error"] for one in seen}
    dialogs = instance.call(f"{HERE}:sections")
    counts = {"dialogs": 0, "turns": 0, "messages": 0, "bytes": 0}
    for one in seen:
        (number,) = one["told"]
        received = "\n".join(one["received"])
        if one["role"] == "student":
            _check_secret(received, dialogs[number], number)
            counts["dialogs"] += 1
            counts["turns"] += len(one["sent"])
            counts["messages"] += len(one["received"])
            counts["bytes"] += len(received.encode())
        else:
            # The teacher has it all: so the search finds what is there.
            assert _runs(dialogs[number]["text"]) & _runs(received)
    assert counts["dialogs"] == n_dialogs
    return counts


def _check_secret(received: str, section: dict[str, Any], number: str) -> None:
    """Raise AssertionError where a run of the section was sent that no picked span holds."""
    secret = _runs(section["text"]) - set(chain(*map(_runs, section["known"].split("\n"))))
    leaked = secret & _runs(received)
    assert not leaked, f"dialog {number}: {sorted(leaked)[:2]}"


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
