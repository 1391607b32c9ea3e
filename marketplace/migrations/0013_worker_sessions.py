"""Calls a worker's sign-in a WorkerSession, beside the desk's; nothing in the rows changes."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("marketplace", "0012_sign_in_tries")]

    operations = [migrations.RenameModel("Session", "WorkerSession")]
