"""Workers: their accounts, imported, grouped, invited, merged, erased; what they may take."""
