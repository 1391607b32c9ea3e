"""What a collection has brought so far, as tables: the paper's own, what was kept, and the pay."""
