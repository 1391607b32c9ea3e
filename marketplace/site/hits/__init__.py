"""The list of HITs, what stands beside each, and previews."""
