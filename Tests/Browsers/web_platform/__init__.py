"""The browsers' own tests, directly and through the gateway."""
