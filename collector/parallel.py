"""Hands work to processes a little ahead, and takes the results in the order of the work."""

import ctypes
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Generic, TypeVar

_END_WITH_PARENT = 1
Work = TypeVar("Work")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Helping(Generic[Work, Result]):
    """How whoever waits for the next result works too.

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
    # Whoever presses Ctrl-C stops the parent, which stops its children in order.
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
                waiting.append(_done(helping.do(piece)))
        if not waiting:
            break
        yield waiting.popleft().result()
    if failure is not None:
        raise failure


def _done(result: Result) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_result(result)
    return future
