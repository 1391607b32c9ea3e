"""What can go wrong with a file as a whole, told in one sentence."""


class DumpError(Exception):
    """A file cannot be read further; the message names it and says what to do."""


class MalformedPage(ValueError):
    """One page cannot be read; `title` is what could be had of its title, the message why."""

    def __init__(self, title: str, reason: str) -> None:
        super().__init__(reason)
        self.title = title
        self.reason = reason


class BookError(Exception):
    """A book or a table of books cannot be read; the message names the file and says what to do."""


class DocumentError(Exception):
    """A document cannot be read; the message names it and says why, in one line."""
