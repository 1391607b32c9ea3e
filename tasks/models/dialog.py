"""A live dialog between two workers, its turns, and the tickets that bring them together."""

from django.db import models
from django.db.models import F, Q

from tasks.models.people import Worker
from tasks.models.work import Lease


class Topic(models.Model):
    """A section to talk about: `taken` counts its dialogs that go on or were long enough."""

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="topics")
    seed = models.OneToOneField("collector.Seed", models.PROTECT, related_name="topic")
    wanted = models.PositiveSmallIntegerField()
    taken = models.PositiveSmallIntegerField(default=0)
    begun = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["stage", "id"], condition=Q(taken__lt=F("wanted")), name="topic_open"
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(taken__lte=F("wanted")), name="topic_never_overbooked"
            )
        ]

    def __str__(self) -> str:
        return str(self.seed)


class TicketState(models.TextChoices):
    """Where the holder of a ticket is: it ends in done, whatever became of their dialogs."""

    WAITING = "waiting", "Waiting for a partner"
    CHECKING = "checking", "Asked whether they are there"
    TALKING = "talking", "In a dialog"
    DONE = "done", "Done"


class Ticket(models.Model):
    """One person's place in the dialogs of a stage, as long as its lease lasts.

    Tickets are numbered as people come: who has a lower one is paired first, also after a
    partner has left. `waiting_since` is since when the wait that goes on is paid,
    `waited_seconds` adds up those that are over; `seen_at` is the last sign of presence, None
    before the first; `ready` is whether the holder has answered the present check;
    `reserved_cents` is what the budget holds for the longest wait until it is paid.
    """

    lease = models.OneToOneField(Lease, models.PROTECT, related_name="ticket")
    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="tickets")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="tickets", db_index=False)
    can_ask = models.BooleanField()
    can_teach = models.BooleanField()
    state = models.CharField(
        max_length=20, choices=TicketState.choices, default=TicketState.WAITING
    )
    waiting_since = models.DateTimeField()
    waited_seconds = models.PositiveIntegerField(default=0)
    connections = models.PositiveSmallIntegerField(default=0)
    seen_at = models.DateTimeField(null=True, blank=True)
    ready = models.BooleanField(default=False)
    reserved_cents = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(
                fields=["stage", "id"],
                condition=Q(state="waiting"),
                name="ticket_waiting",
            ),
            models.Index(fields=["worker"], name="ticket_of_worker"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(can_ask=True) | Q(can_teach=True), name="ticket_has_a_role"
            ),
            models.UniqueConstraint(
                fields=["stage", "worker"],
                condition=~Q(state="done"),
                name="ticket_once_per_worker",
            ),
        ]

    def __str__(self) -> str:
        return self.get_state_display()


class DialogState(models.TextChoices):
    """A dialog begins with the check whether both are there, and ends once."""

    CHECKING = "checking", "Waiting for both to be there"
    TALKING = "talking", "Going on"
    OVER = "over", "Over"


class Dialog(models.Model):
    """Two tickets about one topic; `ordinal` numbers the dialogs about it.

    `reserved_cents` is what the budget holds for the turns of both until they are paid; `settled`
    is whether its turns have become questions and answers, and its money has been booked.
    """

    stage = models.ForeignKey("collector.Stage", models.CASCADE, related_name="dialogs")
    # Looked up by `dialog_ordinal_once`, which begins with it.
    topic = models.ForeignKey(Topic, models.PROTECT, related_name="dialogs", db_index=False)
    ordinal = models.PositiveSmallIntegerField()
    student_ticket = models.ForeignKey(Ticket, models.PROTECT, related_name="as_student")
    teacher_ticket = models.ForeignKey(Ticket, models.PROTECT, related_name="as_teacher")
    # Nobody looks up dialogs by people: it is their tickets that lead to them.
    student = models.ForeignKey(Worker, models.PROTECT, related_name="+", db_index=False)
    teacher = models.ForeignKey(Worker, models.PROTECT, related_name="+", db_index=False)
    state = models.CharField(
        max_length=20, choices=DialogState.choices, default=DialogState.CHECKING
    )
    ending = models.CharField(max_length=20, blank=True)
    ended_by = models.CharField(max_length=20, blank=True)
    began_at = models.DateTimeField()
    moved_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    reserved_cents = models.PositiveIntegerField(default=0)
    settled = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        indexes = [
            models.Index(fields=["stage"], condition=~Q(state="over"), name="dialog_going_on"),
            models.Index(fields=["stage"], condition=Q(settled=False), name="dialog_unsettled"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(student=F("teacher")), name="dialog_never_with_oneself"
            ),
            models.UniqueConstraint(
                fields=["student_ticket"],
                condition=~Q(state="over"),
                name="dialog_once_per_student",
            ),
            models.UniqueConstraint(
                fields=["teacher_ticket"],
                condition=~Q(state="over"),
                name="dialog_once_per_teacher",
            ),
            models.UniqueConstraint(fields=["topic", "ordinal"], name="dialog_ordinal_once"),
            models.UniqueConstraint(
                fields=["topic", "student"], name="dialog_topic_new_to_student"
            ),
            models.UniqueConstraint(
                fields=["topic", "teacher"], name="dialog_topic_new_to_teacher"
            ),
            models.CheckConstraint(
                condition=Q(state="over") ^ Q(ending=""), name="dialog_over_has_an_ending"
            ),
        ]

    def __str__(self) -> str:
        return f"Dialog {self.ordinal + 1} about {self.topic}"


class Turn(models.Model):
    """A question and, once it has come, its answer.

    `start`, `end`: half-open, in code points of the section; both None for no answer. The
    messages are the client's own ids: what is sent again is not said twice.
    """

    dialog = models.ForeignKey(Dialog, models.CASCADE, related_name="turns")
    number = models.PositiveSmallIntegerField()
    question = models.TextField()
    question_message = models.UUIDField()
    asked_at = models.DateTimeField()
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    continuation = models.CharField(max_length=20, blank=True)
    affirmation = models.CharField(max_length=20, blank=True)
    answer_message = models.UUIDField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["dialog_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["dialog", "number"], name="turn_number_once"),
            models.UniqueConstraint(fields=["dialog", "question_message"], name="turn_asked_once"),
            models.UniqueConstraint(fields=["dialog", "answer_message"], name="turn_answered_once"),
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True) ^ ~Q(continuation=""),
                name="turn_answer_has_its_acts",
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__lt=F("end")),
                name="turn_span_is_not_empty",
            ),
        ]

    def __str__(self) -> str:
        return self.question
