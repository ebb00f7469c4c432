"""What servers get of a browser that sends everything through the gateway."""
