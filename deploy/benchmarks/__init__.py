"""Speed, measured against named references in the same run and printed as ratios."""
