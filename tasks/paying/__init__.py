"""Pays workers through the provider: rewards, bonuses, HITs that pay what is owed, rejections."""
