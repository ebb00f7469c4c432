"""What schemathesis does not know of by itself: JSON lines."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    values = value if isinstance(value, list) else [value]
    return "".join(json.dumps(line) + "\n" for line in values).encode()


@schemathesis.deserializer("application/x-ndjson")
def last_line(_context, response):
    text = response.content.decode().strip().split("\n")[-1]
    return json.loads(text) if text else {}
