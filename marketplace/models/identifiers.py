"""Makes the random identifiers and secrets that the marketplace hands out."""

import base64
import hashlib
import secrets

ENTITY_LENGTH = 30
WORKER_LENGTH = 14


def _draw(length: int) -> str:
    # Five random bits a character, all drawn at once: A to Z and 2 to 7.
    return base64.b32encode(secrets.token_bytes(length))[:length].decode()


def new_entity_id() -> str:
    """Return an identifier of the model's EntityId shape (`^[A-Z0-9]+$`), never guessable."""
    return "3" + _draw(ENTITY_LENGTH - 1)


def new_worker_id() -> str:
    """Return an identifier of the model's WorkerId shape (`^A[A-Z0-9]+$`)."""
    return "A" + _draw(WORKER_LENGTH - 1)


def new_access_key_id() -> str:
    """Return an access key id of the usual look: 20 characters, `AKIA` first."""
    return "AKIA" + _draw(16)


def new_secret() -> str:
    """Return 256 random bits as URL-safe text."""
    return secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """Return the hex SHA-256 of a random secret, to store where only equality counts."""
    return hashlib.sha256(secret.encode()).hexdigest()
