"""Who comes to a HIT, who may work, who asked to be forgotten, and what workers report."""
