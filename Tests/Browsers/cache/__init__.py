"""Single-page apps behind the gateway's cache."""
