"""Reading a dump, beside lbzip2 alone and mwparserfromhell on the same text in the same run."""

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

from collector.ingest.decompression import Source
from collector.ingest.dump import Dump, parse_page
from collector.ingest.parallel import read_records
from collector.ingest.wikitext import Wikitext

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "deploy" / "sample" / "quarnsey.xml"
SLICE = "enwiki-rock-performers-2025.xml.bz2"
# Pages that the slow reference parses, spread over the dump.
REFERENCE_PAGES = 25
ROUNDS = 3
# The pages-articles dump of the English Wikipedia, unpacked.
ENGLISH_DUMP_BYTES = 105e9


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="collector-bench-") as folder:
        path = _dump(Path(folder))
        megabytes = sum(map(len, Source(path).chunks())) / 1e6
        print(f"ingest: {path.name}, {megabytes:.0f} MB of XML; ratios are of CPU time")
        _against_lbzip2(path, megabytes)
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


def _cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of `work`, those of processes it waits for included; the least."""
    best = float("inf")
    for _ in range(ROUNDS):
        before = os.times()
        work()
        after = os.times()
        best = min(best, sum(after[:4]) - sum(before[:4]))
    return best


def _read_all(path: Path, processes: int = 1) -> int:
    dump = Dump(path, threads=processes)
    return sum(len(batch) for batch in read_records(dump, dump.site, processes))


def _against_lbzip2(path: Path, megabytes: float) -> None:
    program = shutil.which("lbzip2")
    ours = _cpu(lambda: _read_all(path))
    print(f"{'bz2 → records, one process':32}{megabytes / ours:8.1f} MB/s of XML")
    if not program or path.suffix != ".bz2":
        print(f"{'':32}lbzip2 is not installed, no ratio")
        return
    command = [program, "-n1", "-dc", str(path)]
    alone = _cpu(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True))
    print(f"{'lbzip2 alone':32}{megabytes / alone:8.1f} MB/s; records cost {ours / alone:.2f} × it")


def _against_mwparserfromhell(path: Path) -> None:
    dump = Dump(path)
    texts = [parse_page(xml).text for xml in dump.pages()]
    some = list(islice(texts, 0, None, max(1, len(texts) // REFERENCE_PAGES)))
    wikitext = Wikitext(dump.site)
    ours = _cpu(lambda: [wikitext.parse(text) for text in texts]) / _megabytes(texts)
    theirs = _cpu(lambda: [mwparserfromhell.parse(text) for text in some]) / _megabytes(some)
    print(f"{'wikitext → paragraphs, links':32}{1 / ours:8.1f} MB/s of wikitext")
    print(f"{'mwparserfromhell, tree only':32}{1 / theirs:8.1f} MB/s; we are {theirs / ours:.1f} ×")


def _megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def _over_processes(path: Path, folder: Path) -> None:
    """Print how much sooner two processes on two cores are done than one on one core."""
    larger = _times(path, 4, folder / "over.xml.bz2")
    seconds = {}
    for processes in (1, 2):
        seconds[processes] = min(_apart(_clocked, larger, processes) for _ in range(ROUNDS))
    print(f"{'two processes on two cores':32}{seconds[1] / seconds[2]:8.2f} × one on one")


def _clocked(path: Path, processes: int) -> float:
    cores = sorted(os.sched_getaffinity(0))[:processes]
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
