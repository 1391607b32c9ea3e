"""Names rows by what they hold; nothing in them changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0010_block_excluded_workers"), ("tasks", "0023_plain_names")]

    operations = [
        migrations.RenameModel("JudgingRun", "CrossValidation"),
        migrations.RenameModel("Judgement", "HeldOutPrediction"),
        migrations.RenameModel("Placement", "SplitAssignment"),
        migrations.RemoveConstraint(
            model_name="crossvalidation",
            name="judging_run_one_at_a_time",
        ),
        migrations.RemoveConstraint(
            model_name="heldoutprediction",
            name="judgement_once",
        ),
        migrations.RemoveConstraint(
            model_name="heldoutprediction",
            name="judgement_loss_is_a_loss",
        ),
        migrations.RemoveConstraint(
            model_name="heldoutprediction",
            name="judgement_right_was_answered",
        ),
        migrations.RenameIndex(
            model_name="splitassignment",
            new_name="split_assignment_by_split",
            old_name="placement_by_split",
        ),
        migrations.AlterField(
            model_name="crossvalidation",
            name="collection",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="cross_validations",
                to="collector.collection",
            ),
        ),
        migrations.AlterField(
            model_name="heldoutprediction",
            name="fold",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="predictions",
                to="annotation.fold",
            ),
        ),
        migrations.AlterField(
            model_name="heldoutprediction",
            name="question",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="held_out_predictions",
                to="tasks.question",
            ),
        ),
        migrations.AlterField(
            model_name="heldoutprediction",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="predictions",
                to="annotation.crossvalidation",
            ),
        ),
        migrations.AlterField(
            model_name="splitassignment",
            name="question",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="split_assignment",
                to="tasks.question",
            ),
        ),
        migrations.AddConstraint(
            model_name="crossvalidation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["training", "summing"])),
                fields=("collection",),
                name="cross_validation_one_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="heldoutprediction",
            constraint=models.UniqueConstraint(
                fields=("run", "question"), name="held_out_prediction_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="heldoutprediction",
            constraint=models.CheckConstraint(
                condition=models.Q(("loss__isnull", True), ("loss__gte", 0), _connector="OR"),
                name="held_out_prediction_loss_is_a_loss",
            ),
        ),
        migrations.AddConstraint(
            model_name="heldoutprediction",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_right", False), ("loss__isnull", False), _connector="OR"),
                name="held_out_prediction_right_was_answered",
            ),
        ),
    ]
