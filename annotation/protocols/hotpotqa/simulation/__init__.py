"""What simulated workers read and write, and what real ones did."""
