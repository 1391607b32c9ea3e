"""Makes the random identifiers and secrets that the marketplace hands out."""

import base64
import hashlib
import secrets

ENTITY_LENGTH = 30
WORKER_LENGTH = 14


def _draw(length: int) -> str:
    # Each character has five random bits, all drawn at once: A to Z and 2 to 7.
    return base64.b32encode(secrets.token_bytes(length))[:length].decode()


def new_entity_id() -> str:
    """Return an unguessable identifier in the API's form of an EntityId (`^[A-Z0-9]+$`)."""
    return "3" + _draw(ENTITY_LENGTH - 1)


def new_worker_id() -> str:
    """Return an identifier in the API's form of a WorkerId (`^A[A-Z0-9]+$`)."""
    return "A" + _draw(WORKER_LENGTH - 1)


def new_access_key_id() -> str:
    """Return an access key id in the usual form: 20 characters, `AKIA` first."""
    return "AKIA" + _draw(16)


def new_secret() -> str:
    """Return 256 random bits as URL-safe text."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return the hex SHA-256 of a random secret, to store in its place and compare with."""
    return hashlib.sha256(secret.encode()).hexdigest()
