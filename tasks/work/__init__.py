"""Units, the leases workers hold on them, what they show, and what is handed in."""
