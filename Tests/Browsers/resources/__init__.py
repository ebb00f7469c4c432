"""Resources of pages through a scheme handler of the app, in WebKitGTK."""
