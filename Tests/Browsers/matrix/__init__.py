"""What becomes of the cookies of `crumb script` in real pages."""
