"""What a partner has written and not sent, kept for a while: frames often may not keep it."""

from typing import Any

from django.core.cache import cache

KEEP_SECONDS = 2 * 60 * 60


def keep(ticket_id: int, dialog_id: int, draft: object) -> None:
    """Keep what the holder's page has not sent yet; only that ticket's pages get it back."""
    cache.set(_key(ticket_id), {"dialog": dialog_id, "draft": draft}, KEEP_SECONDS)


def kept(ticket_id: int) -> dict[str, Any] | None:
    """Return {dialog, draft} as it was kept last, None where nothing was."""
    found: dict[str, Any] | None = cache.get(_key(ticket_id))
    return found


def _key(ticket_id: int) -> str:
    return f"dialog-draft-{ticket_id}"
