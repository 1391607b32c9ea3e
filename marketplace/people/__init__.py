"""The host's own workers: imported, grouped, invited, merged."""
