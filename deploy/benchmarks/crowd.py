"""Five hundred people at work at once: how long what they send is waited for.

Each opens a HIT, has a draft saved four times and hands in, at times of their own within SECONDS,
with the server's own two processes, PostgreSQL and all these people on one machine.
"""

import asyncio
import random
import statistics
import time
from collections import defaultdict
from typing import Any

import httpx

from deploy.benchmarks.pages import Work, prepared
from deploy.benchmarks.serving import served

PEOPLE = 500
SECONDS = 60.0
DRAFTS = 4
Times = dict[str, list[float]]


def main() -> None:
    """Print the median, the 95th and the 99th percentile of each kind of request."""
    with (
        prepared(PEOPLE) as (environment, work),
        served("collector.asgi:pages", environment, workers=2) as site,
    ):
        before = site.cpu_seconds()
        times = asyncio.run(_crowd(site.url, work))
        used = site.cpu_seconds() - before
    print(f"{'milliseconds':16}{'number':>8}{'median':>8}{'p95':>8}{'p99':>8}")
    for name, each in times.items():
        cuts = statistics.quantiles(each, n=100)
        cells = "".join(f"{cuts[place - 1] * 1000:8.0f}" for place in (50, 95, 99))
        print(f"{name:16}{len(each):8}{cells}")
    print(f"{PEOPLE} people in {SECONDS:.0f} s; {used / SECONDS:.2f} of a core in the server")


async def _crowd(url: str, work: Work) -> Times:
    times: Times = defaultdict(list)
    limits = httpx.Limits(max_connections=PEOPLE, max_keepalive_connections=PEOPLE)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        await asyncio.gather(*(_person(client, one, times) for one in work))
    return times


async def _person(client: httpx.AsyncClient, one: dict[str, Any], times: Times) -> None:
    moments = sorted(random.uniform(0, SECONDS) for _ in range(DRAFTS + 2))
    began = time.perf_counter()
    token = {"Authorization": f"Bearer {one['token']}"}
    for place, moment in enumerate(moments):
        await asyncio.sleep(max(0.0, began + moment - time.perf_counter()))
        sent = time.perf_counter()
        if not place:
            name, answer = "page GET", await client.get(one["page"])
        elif place <= DRAFTS:
            body = {"draft": {"data": one["data"]}, "version": place - 1}
            name, answer = "draft POST", await client.post("/hit/draft", json=body, headers=token)
        else:
            body = {"data": one["data"]}
            name, answer = "submit POST", await client.post("/hit/submit", json=body, headers=token)
        answer.raise_for_status()
        times[name].append(time.perf_counter() - sent)


if __name__ == "__main__":
    main()
