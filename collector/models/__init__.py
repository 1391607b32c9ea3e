"""The rows of what is read and of what is collected from it."""

from collector.models.user import User

__all__ = ["User"]
