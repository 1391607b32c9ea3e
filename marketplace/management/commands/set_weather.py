"""The name that `set_faults` had before; it works for one version more."""

from typing import Any

from marketplace.management.commands.set_faults import Command as SetFaults


class Command(SetFaults):
    """`set_weather "Rita's lab" --lost-replies 0.1`."""

    help = SetFaults.help.replace("set_faults", "set_weather")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the new name and do what it does."""
        self.stderr.write("set_weather is now called set_faults; use that name.")
        super().handle(*args, **options)
