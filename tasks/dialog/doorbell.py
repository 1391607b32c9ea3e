"""Tells open pages to look: what there is to see they read from the rows."""

from asgiref.sync import async_to_sync

RUNG = "rung"


def group_of(ticket_id: int) -> str:
    """Return the name of the group that the sockets of a ticket listen to."""
    return f"ticket.{ticket_id}"


def ring(ticket_ids: "list[int]") -> None:
    """Ring for the holders of these tickets; a lost ring is made good by the next look."""
    from channels.layers import get_channel_layer

    layer = get_channel_layer()
    for ticket_id in ticket_ids:
        async_to_sync(layer.group_send)(group_of(ticket_id), {"type": RUNG})
