"""The loopback proxy that plays every web server."""
