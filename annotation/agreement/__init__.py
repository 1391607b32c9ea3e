"""When annotators say the same, and how much of that is more than chance: pure functions."""
