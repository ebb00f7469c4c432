"""The service's own pages, in real browsers."""
