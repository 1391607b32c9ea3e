"""A qualification that a requester defines."""

from django.db import models
from django.db.models import Q

from marketplace.identifiers import new_entity_id
from marketplace.models.requester import Requester


class QualificationType(models.Model):
    """Its name is the requester's for as long as it is not deleted."""

    qualification_type_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="qualification_types")
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.CharField(max_length=1000, blank=True)
    is_active = models.BooleanField(default=True)
    retry_delay_seconds = models.BigIntegerField(null=True)
    # QuestionForm and AnswerKey as XML; without a key the requester decides each request.
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_duration_seconds = models.BigIntegerField(null=True)
    is_auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(deleted_at=None),
                name="one_qualification_type_per_name",
            ),
        ]

    def __str__(self) -> str:
        return self.name
