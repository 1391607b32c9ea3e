"""Names rows by what they hold; nothing in them changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks", "0022_worker_blocks")]

    operations = [
        migrations.RenameModel("Gate", "StageQualificationTypes"),
        migrations.RenameModel("Tally", "ExampleCount"),
        migrations.RenameModel("Fund", "BonusFund"),
        migrations.RenameModel("Unmatched", "EmptySubmission"),
        migrations.RenameModel("Step", "LeaseEvent"),
        migrations.AlterModelOptions(
            name="emptysubmission",
            options={"ordering": ["received_at", "id"]},
        ),
        migrations.AlterModelOptions(
            name="examplecount",
            options={"ordering": ["id"]},
        ),
        migrations.RemoveConstraint(
            model_name="leaseevent",
            name="step_once",
        ),
        migrations.RenameIndex(
            model_name="emptysubmission",
            new_name="empty_submission_by_state",
            old_name="unmatched_by_state",
        ),
        migrations.RenameIndex(
            model_name="examplecount",
            new_name="example_count_of_a_round",
            old_name="tally_of_a_round",
        ),
        migrations.RenameIndex(
            model_name="examplecount",
            new_name="example_count_of_a_block",
            old_name="tally_of_a_block",
        ),
        migrations.AlterField(
            model_name="bonusfund",
            name="stage",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="bonus_fund",
                to="collector.stage",
            ),
        ),
        migrations.AlterField(
            model_name="emptysubmission",
            name="session",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="empty_submission",
                to="tasks.session",
            ),
        ),
        migrations.AlterField(
            model_name="examplecount",
            name="stage",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="example_counts",
                to="collector.stage",
            ),
        ),
        migrations.AlterField(
            model_name="examplecount",
            name="submission",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="example_count",
                to="tasks.submission",
            ),
        ),
        migrations.AlterField(
            model_name="examplecount",
            name="worker",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="example_counts",
                to="tasks.worker",
            ),
        ),
        migrations.AlterField(
            model_name="leaseevent",
            name="lease",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="events", to="tasks.lease"
            ),
        ),
        migrations.AlterField(
            model_name="stagequalificationtypes",
            name="stage",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="qualification_types",
                to="collector.stage",
            ),
        ),
        migrations.AddConstraint(
            model_name="leaseevent",
            constraint=models.UniqueConstraint(fields=("lease", "kind"), name="lease_event_once"),
        ),
    ]
