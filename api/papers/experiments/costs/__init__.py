"""Plans and flows priced by GenModel."""
