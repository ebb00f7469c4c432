"""A page that says "not signed in", and is signed in again with a token."""
