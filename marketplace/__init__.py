"""The self-hosted marketplace, an island: requester API on the wire, worker site in the browser."""
