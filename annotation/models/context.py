"""What a system reads to answer a question: paragraphs found before the release, in order."""

from django.db import models


class Context(models.Model):
    """The paragraphs of one question in one setting, stored once, so that releases stay the same.

    `paragraphs`: primary keys of collector's paragraphs in the order they are read, each with its
    sentences stored. Where they were searched for in a whole corpus, `pool` is how many the search
    left over, `gold_ranks` the rank of each paragraph of the question's seed, from 1, pool + 1 of
    one that is not among them, and `answer_rank` that of the one that holds the answer.
    """

    question = models.ForeignKey("tasks.Question", models.CASCADE, related_name="contexts")
    setting = models.CharField(max_length=20)
    paragraphs = models.JSONField()
    pool = models.PositiveIntegerField(null=True)
    gold_ranks = models.JSONField(default=list)
    answer_rank = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "setting"], name="context_once_a_setting")
        ]

    def __str__(self) -> str:
        return f"{self.question_id}/{self.setting}"
