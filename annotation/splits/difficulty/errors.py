"""What is said when the difficulty cannot be judged, or is not."""


class DifficultyError(Exception):
    """The message is one line that says what is missing and what to do."""
