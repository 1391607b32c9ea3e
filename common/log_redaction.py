"""Keeps out of logs what an address lets whoever reads it do: hand work in, sign in, read work."""

import logging
import re

SECRET = re.compile(r"/(accepted|enter|hit/sent)/[^/\s?]+")


class WithoutSecrets(logging.Filter):
    """Writes … in place of the secret in a path, wherever in a line it stands."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the secrets out of a record; it is always written."""
        said = record.getMessage()
        if SECRET.search(said):
            record.msg, record.args = SECRET.sub(r"/\1/…", said), ()
        return True
