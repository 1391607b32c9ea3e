"""What a HIT is and does: its question, its places, its review, who can see it."""
