"""The desk: pages of the host and of requesters who publish without writing code."""
