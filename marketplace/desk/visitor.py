"""The signed-in user of a desk page, as its views get it."""

from dataclasses import dataclass

from django.http import HttpRequest

from marketplace.models import DeskSession, DeskUser, Requester, Role


@dataclass(frozen=True)
class Desk:
    """The signed-in desk user, their session, and the requester whose desk is open, if any."""

    user: DeskUser
    session: DeskSession

    @property
    def is_host(self) -> bool:
        """Return whether the host's own pages are theirs."""
        return self.user.role == Role.HOST

    @property
    def requester(self) -> Requester | None:
        """Return the requester whose desk is open."""
        return self.session.acting_for if self.is_host else self.user.requester

    @property
    def who(self) -> str:
        """Return the name that the audit log keeps."""
        if self.is_host and self.session.acting_for:
            return f"{self.user.name}, for {self.session.acting_for.name}"
        return self.user.name


class DeskRequest(HttpRequest):
    """A request as `desk_page` hands it on; `requester` is set on a requester's pages alone."""

    desk: Desk
    requester: Requester
