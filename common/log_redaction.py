"""Keeps out of logs what an address lets whoever reads it do: hand work in, sign in, read work."""

import logging
import re

# And the password in a service's address.
SECRET = re.compile(r"(/(?:accepted|enter|hit/sent)/)[^/\s?]+|(://[^\s/:@]*:)[^\s/@]+(?=@)")


class WithoutSecrets(logging.Filter):
    """Writes … in place of the secret in a path, wherever in a line it stands."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the secrets out of a record and its traceback; it is always written."""
        said = record.getMessage()
        if SECRET.search(said):
            record.msg, record.args = _without(said), ()
        if record.exc_info:
            # Formatters write the text that is there.
            text = record.exc_text or logging.Formatter().formatException(record.exc_info)
            record.exc_text = _without(text)
        if record.stack_info:
            record.stack_info = _without(record.stack_info)
        return True


def _without(text: str) -> str:
    return SECRET.sub(r"\1\2…", text)
