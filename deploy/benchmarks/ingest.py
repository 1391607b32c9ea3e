"""Reading a dump, beside lbzip2 alone and other parsers on the same text in the same run."""

import bz2
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import mwparserfromhell

from collector.ingest.dump import Dump, Source, parse_page, text_of
from collector.ingest.records import read_records
from collector.ingest.wikitext import Wikitext
from deploy.benchmarks.peers import peer

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "deploy" / "sample" / "quarnsey.xml"
SLICE = "enwiki-rock-performers-2025.xml.bz2"
# Pages that the slow reference parses, spread over the dump.
REFERENCE_PAGES = 25
ROUNDS = 5
TEMPLATES = b'\n<namespace key="10" case="first-letter">Template</namespace>\n'
# The pages-articles dump of the English Wikipedia, unpacked.
ENGLISH_DUMP_BYTES = 105e9


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="collector-bench-") as folder:
        path = _dump(Path(folder))
        megabytes = sum(map(len, Source(path).chunks())) / 1e6
        print(f"ingest: {path.name}, {megabytes:.0f} MB of XML; ratios are of CPU time")
        ours = _against_lbzip2(path, megabytes)
        _against_wikiextractor(path, Path(folder), megabytes, ours)
        _against_mwparserfromhell(path)
        _over_processes(path, Path(folder))
        _into_rows(path, Path(folder))
        _growing(path, Path(folder))


def _dump(folder: Path) -> Path:
    data = os.environ.get("COLLECTOR_DATA")
    if data and (Path(data) / "wiki" / SLICE).exists():
        return Path(data) / "wiki" / SLICE
    return _times(SAMPLE, 60, folder / "sample.xml.bz2")


def _times(path: Path, n: int, out: Path) -> Path:
    """Write a dump with all pages of `path` `n` times, titles and ids changed; return it."""
    xml = b"".join(Source(path).chunks())
    start, end = xml.index(b"<page>"), xml.rindex(b"</page>") + len(b"</page>")
    with bz2.open(out, "wb", compresslevel=1) as file:
        file.write(xml[:start])
        for copy in range(n):
            mark = f" {copy}</title>".encode() if copy else b"</title>"
            pages = xml[start:end].replace(b"</title>", mark)
            file.write(pages.replace(b"<id>", f"<id>{copy or ''}".encode()))
        file.write(xml[end:])
    return out


def _cpu(*works: Callable[[], object]) -> list[float]:
    """Return the CPU seconds of each work, those of processes it waits for included; the least.

    They take turns, so that what else runs on the machine meets them all.
    """
    best = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for n, work in enumerate(works):
            before = os.times()
            work()
            after = os.times()
            best[n] = min(best[n], sum(after[:4]) - sum(before[:4]))
    return best


def _read_all(path: Path, processes: int = 1) -> int:
    dump = Dump(path, threads=processes)
    return sum(len(batch) for batch in read_records(dump, dump.site, processes))


def _against_lbzip2(path: Path, megabytes: float) -> float:
    """Print what records cost beside lbzip2, which only unpacks; return it in CPU seconds."""
    program = shutil.which("lbzip2")
    if program and path.suffix == ".bz2":
        command = [program, "-n1", "-dc", str(path)]
        ours, alone = _cpu(
            lambda: _read_all(path),
            lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True),
        )
    else:
        print("lbzip2 is not installed: it is left out.")
        ours, alone = *_cpu(lambda: _read_all(path)), 0.0
    print(f"{'bz2 → records, one process':32}{megabytes / ours:8.1f} MB/s of XML")
    if alone:
        ratio = f"records cost {ours / alone:.2f} × it"
        print(f"{'lbzip2 alone':32}{megabytes / alone:8.1f} MB/s; {ratio}")
    return ours


def _against_wikiextractor(path: Path, folder: Path, megabytes: float, ours: float) -> None:
    """Print what records cost beside wikiextractor, once: it is slow."""
    python = peer("wikiextractor")
    if python is None:
        return
    # It takes every page for a template unless the head of the dump names their namespace.
    named = folder / "named.xml.bz2"
    xml = b"".join(Source(path).chunks())
    named.write_bytes(bz2.compress(xml.replace(b"</namespaces>", TEMPLATES + b"</namespaces>", 1)))
    command = [python, "-m", "wikiextractor.WikiExtractor", "--no-templates", "--links", "--json"]
    command += ["-q", "--processes", "1", "-o", str(folder / "extracted"), str(named)]
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    theirs = sum(after[2:4]) - sum(before[2:4])
    if not any(file.stat().st_size for file in (folder / "extracted").glob("*/*")):
        print("wikiextractor is left out: it finds no article in this dump.")
        return
    ratio = f"we are {theirs / ours:.1f} ×"
    print(f"{'wikiextractor, text and links':32}{megabytes / theirs:8.1f} MB/s; {ratio}")


def _against_mwparserfromhell(path: Path) -> None:
    dump = Dump(path)
    pages = [parse_page(xml).text for xml in dump.pages()]
    texts = [text_of(page) for page in pages]
    some = list(islice(texts, 0, None, max(1, len(texts) // REFERENCE_PAGES)))
    wikitext = Wikitext(dump.site)
    ours, theirs = _cpu(
        lambda: [wikitext.parse(page) for page in pages],
        lambda: [mwparserfromhell.parse(text) for text in some],
    )
    ours, theirs = ours / _megabytes(texts), theirs / _megabytes(some)
    print(f"{'wikitext → paragraphs, links':32}{1 / ours:8.1f} MB/s of wikitext")
    print(f"{'mwparserfromhell, tree only':32}{1 / theirs:8.1f} MB/s; we are {theirs / ours:.1f} ×")


def _megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def _over_processes(path: Path, folder: Path) -> None:
    """Print how much sooner two processes on two cores are done than one on one core.

    Beside it what two cores of this machine give at all: two readers that share nothing, each on
    a core of its own and each with all of the dump.
    """
    larger = _times(path, 4, folder / "over.xml.bz2")
    rounds = [_round_over_processes(larger) for _ in range(ROUNDS)]
    one, two, apart = map(min, zip(*rounds, strict=True))
    print(f"{'two processes on two cores':32}{one / two:8.2f} × one on one")
    print(f"{'two that share nothing':32}{2 * one / apart:8.2f} ×: what the two cores give")


def _round_over_processes(path: Path) -> tuple[float, float, float]:
    """Return the seconds of one process, of two that share the dump, of two that share nothing."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    one, two = (_apart(_clocked, path, cores[:n], n) for n in (1, 2))
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        apart = max(executor.map(_clocked, [path, path], [[core] for core in cores]))
    return one, two, apart


def _clocked(path: Path, cores: list[int], processes: int = 1) -> float:
    os.sched_setaffinity(0, cores)
    began = time.perf_counter()
    _read_all(path, processes)
    return time.perf_counter() - began


def _into_rows(path: Path, folder: Path) -> None:
    home = folder / "home"
    environment = {**os.environ, "COLLECTOR_HOME": str(home), "DATABASE_URL": ""}
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], env=environment, check=True)
    database = home / "collector.sqlite3"
    empty = database.stat().st_size
    command = [*manage, "ingest_dump", str(path), "--corpus", "bench", "--json"]
    done = subprocess.run(command, env=environment, check=True, capture_output=True)
    import orjson

    counts = next(iter(orjson.loads(done.stdout)["files"].values()))
    rows = counts["articles"] + counts["paragraphs"] + counts["list_items"]
    n_bytes = database.stat().st_size - empty
    share = n_bytes / counts["bytes"]
    print(
        f"{'rows in SQLite':32}{rows / counts['seconds']:8.0f} rows/s, all cores, parsing included"
    )
    print(f"{'bytes per article':32}{n_bytes / counts['articles']:8.0f}, {share:.2f} of the XML")
    hours = ENGLISH_DUMP_BYTES / counts["bytes"] * counts["seconds"] / 3600
    print(
        f"{'so the English Wikipedia':32}{share * ENGLISH_DUMP_BYTES / 1e9:8.0f} GB of rows "
        f"in {hours:.1f} hours on this machine"
    )


def _growing(path: Path, folder: Path) -> None:
    print(f"{'growth':12}{'MB':>8}{'CPU ms/MB':>12}{'peak MB':>10}")
    for n in (1, 2, 4):
        larger = _times(path, n, folder / f"{n}.xml.bz2")
        megabytes, milliseconds, peak = _apart(_weighed, larger)
        print(f"{n:<12}{megabytes:8.0f}{milliseconds:12.1f}{peak:10.0f}")


def _weighed(path: Path) -> tuple[float, float, float]:
    """Return MB of XML, CPU ms per MB and peak MB of memory of this process reading `path`."""
    dump = Dump(path)
    before = time.process_time()
    for _ in read_records(dump, dump.site):
        pass
    used = time.process_time() - before
    return dump.n_bytes / 1e6, used * 1e9 / dump.n_bytes, _peak_megabytes()


def _peak_megabytes() -> float:
    """Return the most memory this process has held; getrusage would count its parent's as well."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """Return what `work` returns in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        return executor.submit(work, *arguments).result()


if __name__ == "__main__":
    main()
