"""Questions with their votes and verdicts, and how hard they are."""
