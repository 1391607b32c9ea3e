"""What both halves need and neither owns: no models, and nothing else of ours is imported."""
