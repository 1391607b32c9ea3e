"""What the paper tells of its data, counted for a collection."""
