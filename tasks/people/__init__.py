"""Who may work, who asked to be forgotten, and what workers report."""
