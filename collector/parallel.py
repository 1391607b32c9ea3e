"""Hands work to processes a little ahead, and takes the results in the order of the work."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

Work = TypeVar("Work")
Result = TypeVar("Result")


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
