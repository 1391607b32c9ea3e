"""What a requester's tasks may use of a worker's browser, once their HIT is accepted."""

from django.utils.translation import gettext, gettext_noop

# By the names of the Permissions Policy, in the order in which workers read them.
PERMISSIONS = {
    "fullscreen": gettext_noop("the whole screen"),
    "microphone": gettext_noop("your microphone"),
    "camera": gettext_noop("your camera"),
    "autoplay": gettext_noop("sound that begins by itself"),
    "clipboard-write": gettext_noop("writing to your clipboard"),
}
LABELS = {
    "fullscreen": "Fill the screen",
    "microphone": "Use the microphone",
    "camera": "Use the camera",
    "autoplay": "Play sound without a click",
    "clipboard-write": "Write to the clipboard",
}

# Without these a task that needs them stands still, and says nothing.
HALTING = ("fullscreen", "microphone", "camera")


def allow_of(permissions: str, question_kind: str) -> str:
    """Return the `allow` of a task's frame; permissions: names of PERMISSIONS between blanks.

    A page of the requester's own HTML has no origin that could be named: its frame has only it.
    """
    whom = "" if question_kind == "external" else " *"
    return "; ".join(f"{name}{whom}" for name in permissions.split())


def told(permissions: str) -> str:
    """Return what a task may use, in the active language, blank for nothing."""
    return ", ".join(gettext(PERMISSIONS[name]) for name in permissions.split())


def missing(permissions: str, question_kind: str) -> str:
    """Return what a task may not use and may wait for in vain, in the active language."""
    if question_kind == "form":
        return ""
    return told(" ".join(name for name in HALTING if name not in permissions.split()))
