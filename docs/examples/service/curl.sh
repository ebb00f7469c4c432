#!/bin/sh -eu
# The access token and the documents go through pipes, since other users can see command lines.
ask() {
    curl -sS --fail-with-body -X "$1" "$CRUMB_SERVICE$2" -H @/dev/fd/3 -H 'Content-Type: application/json' --data @- 3<<END
Authorization: Bearer $(cat "$CRUMB_SERVICE_TOKEN_FILE")
END
}
echo '{}' | ask PUT "/v1/jars/$1" > /dev/null
echo '{"url":"https://www.example.com/login","headers":[{"name":"Set-Cookie","value":"sid=1; Path=/; Secure"}]}' |
    ask POST "/v1/jars/$1/responses" > /dev/null
echo '{"url":"https://www.example.com/"}' | ask POST "/v1/jars/$1/decorate"
