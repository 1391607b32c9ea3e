"""A requester's account, and how often signing in to one may be tried."""

from django.contrib.auth.models import AbstractUser

from common.rate_limit import TokenBucket


class User(AbstractUser):
    """Someone of the dataset team; workers never have one."""


class SignInTries(TokenBucket):
    """How many more tries to sign in are left, by account and address."""
