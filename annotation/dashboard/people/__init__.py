"""Workers, their qualifications, and what they report."""
