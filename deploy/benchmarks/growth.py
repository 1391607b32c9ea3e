"""A worker's page and a submission as stored answers grow from 10^4 to 10^6, and as workers do."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from deploy.benchmarks.pages import PREPARE, Work, in_process, prepared, speeds
from deploy.benchmarks.serving import ROUNDS, Served, served

LEVELS = (10**4, 10**5, 10**6)
# Requests of each kind at each level.
REQUESTS = 120
CLIENTS = 6
ONE_MORE = "\nfrom deploy.benchmarks.stored import hand_in_one\nhand_in_one()"
STORE = """
import django; django.setup()
from deploy.benchmarks.stored import store
store({start}, {end})
"""


def main() -> None:
    """Print requests per server-CPU second at every level, and of two server processes."""
    # The last one's work is what is copied.
    number = len(LEVELS) * REQUESTS + 1
    with prepared(number, PREPARE + ONE_MORE) as (environment, work):
        start = 0
        for level, end in enumerate(LEVELS):
            in_process(STORE.format(start=start, end=end), environment)
            start = end
            with served("collector.asgi:pages", environment) as site:
                rates = speeds(site, work[level * REQUESTS : (level + 1) * REQUESTS])
            if not level:
                first = rates
                print(f"{'stored answers':16}" + "".join(f"{name:>26}" for name in rates))
            cells = (
                f"{speed.rate:11.0f} ({speed.rate / first[name].rate:.2f} ×),"
                f"{speed.slowest_seconds * 1000:4.0f} ms"
                for name, speed in rates.items()
            )
            print(f"{end:<16}" + "".join(f"{cell:>26}" for cell in cells))
        _over_workers(environment, work)


def _over_workers(environment: dict[str, str], work: Work) -> None:
    """Print what two server processes answer at once, beside one."""
    per_cpu, per_second = {}, {}
    for workers in (1, 2):
        with served("collector.asgi:pages", environment, workers) as site:
            per_cpu[workers], per_second[workers] = _crowd(site, work)
    # Two processes that do not hold each other up cost as much for each page as one.
    by_cpu, by_clock = 2 * per_cpu[2] / per_cpu[1], per_second[2] / per_second[1]
    print(
        f"two server processes: {by_cpu:.2f} × one by CPU; {by_clock:.2f} × by the clock, with "
        f"clients and database on the same {os.cpu_count()} cores"
    )


def _crowd(site: Served, work: Work) -> tuple[float, float]:
    """Return pages per CPU second and per second, of the best round, to clients at once."""
    pages = [one["arrival"] for one in work[: (len(LEVELS) * REQUESTS)]]

    def read(start: int) -> None:
        with httpx.Client(base_url=site.url, timeout=60) as client:
            for page in pages[start::CLIENTS]:
                client.get(page).raise_for_status()

    rounds = []
    with ThreadPoolExecutor(CLIENTS) as executor:
        for _ in range(ROUNDS):
            before, began = site.cpu_seconds(), time.perf_counter()
            list(executor.map(read, range(CLIENTS)))
            seconds = time.perf_counter() - began
            rounds.append((len(pages) / (site.cpu_seconds() - before), len(pages) / seconds))
    by_cpu, by_clock = zip(*rounds[1:], strict=True)
    return max(by_cpu), max(by_clock)


if __name__ == "__main__":
    main()
