"""Real authorization servers: how each starts, and how a user of each behaves."""
