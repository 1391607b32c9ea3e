"""What the racing processes of `test_talk_races` do."""

import random
from collections.abc import Callable

from django.utils import timezone

from tests.racing import race


def come(tickets: list[int], start: float) -> int:
    """Let the holders of these tickets look for a partner, each in a thread; how many found one."""
    from tasks.dialog import pairing
    from tasks.models import Ticket

    def one(key: int) -> bool:
        ticket = Ticket.objects.get(pk=key)
        return bool(pairing.claim(ticket, timezone.now(), random.Random(key)))

    return race([lambda key=key: one(key) for key in tickets], start)


def sweep(stage_id: int, times: int, start: float) -> int:
    """Sweep the stage so many times, in a thread each; returns how many pairs were made."""
    from collector.models import Stage
    from tasks.dialog import pairing

    pairs: list[int] = []

    def one() -> bool:
        stage = Stage.objects.select_related("collection").get(pk=stage_id)
        pairs.append(len(pairing.sweep(stage, timezone.now(), random.Random(1))))
        return True

    race([one] * times, start)
    return sum(pairs)


def end_it(dialogs: list[int], start: float) -> int:
    """End and settle these dialogs, and look after their stage, all at once."""
    from tasks.dialog import maintenance as dialog_maintenance
    from tasks.dialog import moves, presence, settlement
    from tasks.models import Dialog, Ticket
    from tasks.work.dialog_rules import Ending, Role

    attempts: list[Callable[[], bool]] = []
    for number, key in enumerate(dialogs):
        role = Role.STUDENT if number % 2 else Role.TEACHER

        def leave(key: int = key, role: Role = role) -> bool:
            now = timezone.now()
            return settlement.settle(moves.end(key, role, Ending.LEFT, now), now)

        def look(key: int = key) -> bool:
            stage = Dialog.objects.select_related("stage__collection").get(pk=key).stage
            dialog_maintenance.maintain_dialogs(stage, timezone.now(), random.Random(key))
            return False

        def answer_the_check(key: int = key) -> bool:
            dialog = Dialog.objects.get(pk=key)
            presence.ready(key, dialog.student_ticket_id, timezone.now())
            presence.ready(key, dialog.teacher_ticket_id, timezone.now())
            presence.disconnected(dialog.student_ticket_id, timezone.now())
            presence.connected(dialog.student_ticket_id, timezone.now())
            return False

        def ping() -> bool:
            everybody = list(Ticket.objects.values_list("pk", flat=True).order_by("?"))
            presence.seen(everybody, timezone.now())
            return False

        attempts += [answer_the_check, ping, leave, look]
    return race(attempts, start)
