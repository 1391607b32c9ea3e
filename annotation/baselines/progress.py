"""Progress of training on a terminal: what it is at, the rate, the time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from readers.reader import Tell


class _Terminal(Protocol):
    def isatty(self) -> bool: ...


@contextmanager
def told_to(stream: _Terminal, words: str = "Reading") -> Iterator[Tell]:
    """Yield what is told (step, done, total) and draws a bar, where somebody looks."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Steps a second, or seconds a step."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            if not speed:
                return Text("")
            return Text(f"{speed:.1f}/s" if speed >= 1 else f"{1 / speed:.1f} s each")

    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        *(Rate(), TimeRemainingColumn()),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not stream.isatty()) as bars:
        task = bars.add_task(words, total=None)

        def tell(step: str, done: int, total: int) -> None:
            bars.update(task, description=step, completed=done, total=total or None)

        yield tell
