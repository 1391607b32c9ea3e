"""What answers questions without people: sanity checks, upper bounds, baselines (QuAC 5)."""
