"""What simulated workers write and find, and what real ones did; pure."""
