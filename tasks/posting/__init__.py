"""HITs: planned, put up at the provider, and taken down."""
