"""Generated cases: what browsers do with them, and what Crumb does."""
