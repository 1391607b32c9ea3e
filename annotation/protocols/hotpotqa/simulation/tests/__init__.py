"""What simulated workers write and what real ones wrote passes the protocol's own checks."""
