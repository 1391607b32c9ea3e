"""Finds the processes at work that do not know a protocol, and says what one of them lacks."""

import logging
import os
import socket
from datetime import datetime, timedelta
from functools import cache

from collector.models import KnownProtocols
from collector.protocols.loading import ProtocolError, all_protocols

# Whoever said nothing for so long is not at work any more; jobs say it every 20 seconds.
AT_WORK = timedelta(minutes=1)
KEPT = timedelta(days=1)
log = logging.getLogger(__name__)


def record(now: datetime) -> None:
    """Write which protocols this process knows."""
    process = f"{socket.gethostname()}:{os.getpid()}"
    told = {"names": [one.name for one in all_protocols()], "seen_at": now}
    KnownProtocols.objects.update_or_create(process=process, defaults=told)
    KnownProtocols.objects.filter(seen_at__lt=now - KEPT).delete()


def hosts_without(protocol: str, now: datetime) -> list[str]:
    """Return the hosts on which a process at work does not know the protocol, by name."""
    rows = KnownProtocols.objects.filter(seen_at__range=(now - AT_WORK, now + AT_WORK))
    return sorted({row.process.rpartition(":")[0] for row in rows if protocol not in row.names})


def log_once(error: ProtocolError) -> None:
    """Log why a collection cannot be read, once in a process and not with every page and job."""
    _log(str(error))


@cache
def _log(sentence: str) -> None:
    log.error("A collection cannot be read here: %s", sentence)
