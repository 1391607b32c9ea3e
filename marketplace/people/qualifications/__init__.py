"""Who may take a HIT: requirements, qualifications, and the tests that give them."""
