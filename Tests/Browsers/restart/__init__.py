"""A session that survives the end of a web view."""
