"""What the pages of the site and of the desk share."""
