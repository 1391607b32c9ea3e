"""HITs: put up at the provider, reconciled with it, and work that matches none."""
