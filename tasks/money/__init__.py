"""What workers are owed and paid, what is held for it, and what a collection costs."""
