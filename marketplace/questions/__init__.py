"""Questions of HITs and tests: read from XML, shown, and answered."""
