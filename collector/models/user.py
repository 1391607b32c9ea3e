"""A requester's account."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """Someone of the dataset team; workers never have one."""
