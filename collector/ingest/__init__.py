"""The reading room: MediaWiki dump → pages → text, links → rows."""
