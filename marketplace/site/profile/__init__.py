"""A worker's own pages: earnings, history, qualifications, messages, preferences."""
