"""Plans and flows timed by GenModel."""
