"""What is known of this site's backups, as `deploy/backup.py` keeps it in the home."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

FILE = "backup.json"
# A copy is restored each day.
MOST_SECONDS_UNTRIED = 26 * 3600


@dataclass(frozen=True)
class BackupStatus:
    """Until when all is kept, and what came of the last copy that was restored to try it.

    Times are in seconds since 1970, 0 where there was none. problem: why the last look failed, ""
    where it did not. `behind_bytes`: what PostgreSQL has written and nobody has received yet.
    """

    as_of: float
    stale_at: float
    behind_bytes: int
    problem: str = ""
    restored_at: float = 0
    restored_seconds: float = 0
    restored_problems: list[str] = field(default_factory=list)

    def problems(self, now: datetime) -> list[str]:
        """Return in sentences why one cannot rely on it; [] where one can."""
        found = []
        if now.timestamp() > self.stale_at:
            why = self.problem or "deploy.backup does not run: start it."
            found.append(f"The newest copy is as of {self.kept_until}: {why}")
        if now.timestamp() - self.restored_at > MOST_SECONDS_UNTRIED:
            found.append(
                f"The last copy that was restored to try it is of {_said(self.restored_at)}."
            )
        return found + [f"A copy was restored, and {each}" for each in self.restored_problems]

    def ages(self, now: datetime) -> tuple[float, float]:
        """Return in seconds how old the newest copy is, and the last that was restored."""
        return now.timestamp() - self.as_of, now.timestamp() - self.restored_at

    @property
    def kept_until(self) -> str:
        """Return when the newest copy was made, as a page says it."""
        return _said(self.as_of)

    @property
    def tried(self) -> str:
        """Return when a copy was restored last, as a page says it."""
        return _said(self.restored_at)


def status() -> BackupStatus | None:
    """Return what is known, None where nobody makes backups of this home."""
    try:
        told: dict[str, Any] = json.loads((Path(settings.HOME) / FILE).read_text("utf-8"))
        drill = told.pop("drill")
        return BackupStatus(
            **told,
            restored_at=drill.get("at", 0),
            restored_seconds=drill.get("seconds", 0),
            restored_problems=drill.get("problems", []),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def problems() -> list[str]:
    """Return why one cannot rely on the backups; [] where one can, or where there are none."""
    known = status()
    return known.problems(datetime.now(UTC)) if known else []


def _said(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%-d %B %Y, %H:%M} UTC" if at else "no time at all"
