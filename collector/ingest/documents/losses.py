"""Says how much of documents' text was left out when they were read, rule by rule."""

from collections.abc import Mapping

# ours: more than a few notes and a table, so that a person should look at what it was.
MOST_LEFT_OUT = 0.05


def share_left_out(kept: int, left_out: Mapping[str, int]) -> float:
    """Return what was left out as a share of all.

    kept: characters that were stored; left_out: those that were not, by rule, blanks in neither.
    """
    lost = sum(left_out.values())
    return lost / (kept + lost) if lost else 0.0


def losses_told(kept: int, left_out: Mapping[str, int]) -> str:
    """Return what was left out in words, the most first; blank for nothing."""
    if not any(left_out.values()):
        return ""
    share = 100 * share_left_out(kept, left_out)
    by_rule = sorted(left_out.items(), key=lambda pair: (-pair[1], pair[0]))
    rules = ", ".join(f"{rule} {number:,}" for rule, number in by_rule if number)
    shown = "under 1" if share < 0.5 else f"{share:.0f}"
    return f"{shown} % of the text (characters: {rules})"
