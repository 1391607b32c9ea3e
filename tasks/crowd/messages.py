"""Letters to workers: the marketplace passes them on, nobody learns an address."""

from tasks.crowd.requester_api import call


def send(person: str, *, subject: str, text: str) -> None:
    """Send a letter of at most 200 and 4,096 characters; raises MarketplaceError."""
    call("notify_workers", Subject=subject[:200], MessageText=text[:4096], WorkerIds=[person])
