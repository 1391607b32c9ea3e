"""What a HIT asks: a page elsewhere, HTML or a form, and the answers to it."""
