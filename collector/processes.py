"""Work in other processes: several pieces at once in their order, or one piece within limits."""

import ctypes
import os
import pickle
import resource
import select
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar

_END_WITH_PARENT = 1
Work = TypeVar("Work")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Helping(Generic[Work, Result]):
    """How the process that waits for the next result works too.

    `send(piece)`: what a process is given in place of a piece of work; `do(piece)`: its result.
    """

    send: Callable[[Work], Any]
    do: Callable[[Work], Result]


def in_processes(
    processes: int,
    function: Callable[[Any], Result],
    work: Iterator[Work],
    start: Callable[..., object] | None = None,
    *given: Any,
    helping: Helping[Work, Result] | None = None,
) -> Iterator[Result]:
    """Yield function(each) of `work`, in order, from processes that begin with start(*given).

    With `helping`, the caller is one of the processes. Raises as `in_order` does.
    """
    # Spawned, not forked: the caller may run threads and hold database connections.
    started = processes - 1 if helping else processes
    executor = ProcessPoolExecutor(started, get_context("spawn"), _begin, (start, given))
    try:
        yield from in_order(executor, function, work, 2 * processes, helping)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _begin(start: Callable[..., object] | None, given: tuple[Any, ...]) -> None:
    # Ctrl-C stops the parent, which stops its children in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        # Nobody else ends it when the parent is killed: it would wait for work for ever.
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    if start is not None:
        start(*given)


def in_order(
    executor: ProcessPoolExecutor,
    function: Callable[[Any], Result],
    work: Iterator[Work],
    n_ahead: int,
    helping: Helping[Work, Result] | None = None,
) -> Iterator[Result]:
    """Yield function(each) of `work`, in order; at most `n_ahead` are handed out at once.

    With `helping`, the caller does what comes after these while the next result is not there, and
    keeps at most `n_ahead` results more. What `work` raises is raised after the results of all that
    came before it. Raises BrokenProcessPool when a process ended.
    """
    waiting: deque[Future[Result]] = deque()
    most = 2 * n_ahead if helping else n_ahead
    failure: Exception | None = None
    while True:
        while failure is None and len(waiting) < most:
            handed_out = sum(not each.done() for each in waiting)
            if handed_out >= n_ahead and waiting[0].done():
                break
            try:
                piece = next(work)
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            if helping is None:
                waiting.append(executor.submit(function, piece))
            elif handed_out < n_ahead:
                waiting.append(executor.submit(function, helping.send(piece)))
            else:
                future: Future[Result] = Future()
                future.set_result(helping.do(piece))
                waiting.append(future)
        if not waiting:
            break
        yield waiting.popleft().result()
    if failure is not None:
        raise failure


Argument = TypeVar("Argument")

# ours: ten times what documents of a few hundred pages take.
MEMORY_BYTES = 1 << 30
# ours: about five times what dense text takes, on two slow cores; the most, three times what the
# longest PDF takes that is read.
LEAST_CPU_SECONDS, CPU_SECONDS_PER_MIB, MOST_CPU_SECONDS = 10, 4, 1800
# ours: on a busy machine a second of the processor takes several on the clock.
CLOCK_PER_CPU = 3.0
# Where modules and what they come with lie; the rest of this project's folder may hold a home.
_CODE = tuple(
    Path(each)
    for each in (sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", Path(__file__).parent)
)
_PIECE = 1 << 20
_OUT_OF_MEMORY = 3

# Of Linux's Landlock: the numbers of its calls, which are the same on all machines but alpha's, and
# what it knows since its first version: all that one can do with files, of which two are reading.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _BENEATH, _NO_NEW_PRIVILEGES, _O_PATH = 1, 1, 38, 0o10000000
_ALL_FILES, _READ_FILE, _READ_FOLDER = (1 << 13) - 1, 1 << 2, 1 << 3
# Since its fourth version: to wait for TCP connections, and to make them.
_NETWORK_VERSION, _ALL_NETWORK = 4, 0b11


class PassedLimit(Exception):
    """A child needed more than it may have; the message says of what, as `more than 1 GiB …`."""


@dataclass(frozen=True)
class Limits:
    """What a child may use. `files`: what it may read, beside Python's own and the system's."""

    cpu_seconds: int
    files: tuple[Path, ...] = ()
    memory_bytes: int = MEMORY_BYTES


def cpu_seconds(n_bytes: int, per_mib: int = CPU_SECONDS_PER_MIB) -> int:
    """Return how many seconds of the processor a file of `n_bytes` may take."""
    return min(LEAST_CPU_SECONDS + per_mib * n_bytes // (1 << 20), MOST_CPU_SECONDS)


def run_limited(
    function: Callable[[Argument], Result], argument: Argument, limits: Limits
) -> Result:
    """Return function(argument) from a child that is forked from this process, or raise as it did.

    The caller runs no threads and has imported what `function` needs. Nothing is sent to the
    network and no file is written, where the kernel can see to that (Linux 5.13, for TCP 6.7).
    Raises PassedLimit when the child has ended for a limit, or crashed.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _answer(theirs, function, argument, limits)
    os.close(theirs)
    try:
        answer = _read_all(ours, time.monotonic() + limits.cpu_seconds * CLOCK_PER_CPU)
    finally:
        os.close(ours)
        # It ends, or is late: its side is closed when its code is known, which no signal changes.
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    if answer is None:
        raise _too_long(limits)
    # One that ends while it answers leaves a part of its answer.
    if code := os.waitstatus_to_exitcode(status):
        raise _why(code, limits)
    worked, value = pickle.loads(answer)
    if not worked:
        raise value
    return value  # type: ignore[no-any-return]


def _answer(
    pipe: int, function: Callable[[Argument], Result], argument: Argument, limits: Limits
) -> NoReturn:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 1))
        # On machines of many cores libraries set addresses aside for each, which are no memory yet.
        most = max(limits.memory_bytes, _mapped_bytes() + limits.memory_bytes // 2)
        # macOS has no such limit of memory.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        if has_landlock():
            _shut_in(limits.files)
        answer: tuple[bool, Any]
        try:
            answer = True, function(argument)
        except MemoryError:
            raise
        except Exception as error:
            answer = False, error
        file = os.fdopen(pipe, "wb", closefd=False)
        pickle.dump(answer, file)
        file.flush()
        code = 0
    except MemoryError:
        code = _OUT_OF_MEMORY
    finally:
        os._exit(code)


def _read_all(pipe: int, deadline: float) -> bytes | None:
    """Return all that comes until the other side is closed, None if that is not by the deadline."""
    pieces: list[bytes] = []
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        piece = os.read(pipe, _PIECE)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
    return None


def _why(code: int, limits: Limits) -> PassedLimit:
    if code == -signal.SIGXCPU:
        return _too_long(limits)
    if code == _OUT_OF_MEMORY:
        return PassedLimit(f"more than {limits.memory_bytes >> 30} GiB of memory")
    # Libraries in C end their process where memory is refused, as well as where they are wrong.
    return PassedLimit(f"too much memory, or a library that failed (code {code})")


def _too_long(limits: Limits) -> PassedLimit:
    seconds = f"{limits.cpu_seconds} second{'s' * (limits.cpu_seconds != 1)}"
    return PassedLimit(f"more than {seconds} of the processor")


def _mapped_bytes() -> int:
    """Return how many bytes of addresses this process has, 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def has_landlock() -> bool:
    """Return whether the kernel can shut a process in."""
    return sys.platform == "linux" and _landlock_version(ctypes.CDLL(None)) > 0


def _landlock_version(calls: ctypes.CDLL) -> int:
    return int(calls.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG))


def _shut_in(files: Iterable[Path]) -> None:
    """Take away all files but those to read, and TCP."""
    calls = ctypes.CDLL(None)
    handled = (ctypes.c_uint64 * 2)(_ALL_FILES, _ALL_NETWORK)
    # Older kernels know the first number alone.
    size = 16 if _landlock_version(calls) >= _NETWORK_VERSION else 8
    rules = calls.syscall(_CREATE_RULESET, handled, size, 0)
    for path in (*_CODE, *files):
        if path.exists():
            reading = _READ_FILE | (_READ_FOLDER if path.is_dir() else 0)
            place = os.open(path, _O_PATH)
            rule = struct.pack("=Qi", reading, place)
            calls.syscall(_ADD_RULE, rules, _BENEATH, rule, 0)
            os.close(place)
    calls.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    calls.syscall(_RESTRICT_SELF, rules, 0)
