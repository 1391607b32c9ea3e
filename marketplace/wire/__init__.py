"""The requester protocol on the wire: JSON 1.1, signatures, shapes, errors, pages of results."""
