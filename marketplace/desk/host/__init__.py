"""The host's pages: requesters, workers, groups, invitations, payments, settings."""
