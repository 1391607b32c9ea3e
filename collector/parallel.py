"""Hands work to processes a little ahead, and takes the results in the order of the work."""

import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


def in_processes(
    processes: int,
    function: Callable[[Work], Result],
    work: Iterator[Work],
    start: Callable[..., object] | None = None,
    *given: Any,
) -> Iterator[Result]:
    """Yield function(each) of `work`, in order, from processes that begin with start(*given).

    Raises as `in_order` does.
    """
    # Spawned, not forked: the caller may run threads and hold database connections.
    executor = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (start, given))
    try:
        yield from in_order(executor, function, work, 2 * processes)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _begin(start: Callable[..., object] | None, given: tuple[Any, ...]) -> None:
    # Whoever presses Ctrl-C stops the parent, which stops its children in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if start is not None:
        start(*given)


def in_order(
    executor: ProcessPoolExecutor,
    function: Callable[[Work], Result],
    work: Iterator[Work],
    n_ahead: int,
) -> Iterator[Result]:
    """Yield function(each) of `work`, in order; at most `n_ahead` are handed out at once.

    What `work` raises is raised after the results of all that came before it. Raises
    BrokenProcessPool when a process ended.
    """
    waiting: deque[Future[Result]] = deque()
    failure: Exception | None = None
    while True:
        while failure is None and len(waiting) < n_ahead:
            try:
                waiting.append(executor.submit(function, next(work)))
            except StopIteration:
                break
            except Exception as error:
                failure = error
        if not waiting:
            break
        yield waiting.popleft().result()
    if failure is not None:
        raise failure
