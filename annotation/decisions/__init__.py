"""What is believed of each question: verdicts from votes, overrides by hand, whose work counts."""
