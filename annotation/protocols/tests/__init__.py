"""What every protocol's folder must hold, whichever it is."""
