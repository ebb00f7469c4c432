#!/bin/sh -eu
# The access token and what the documents hold go through pipes: a command line can be seen by others.
ask() {
    curl -sS --fail-with-body "$CRUMB_SERVICE$1" -H @/dev/fd/3 -H 'Content-Type: application/json' --data @- 3<<END
Authorization: Bearer $(cat "$CRUMB_SERVICE_TOKEN_FILE")
END
}
echo "{\"name\":\"$1\"}" | ask /v1/jars > /dev/null
echo '{"url":"https://www.example.com/login","headers":[{"name":"Set-Cookie","value":"sid=1; Path=/; Secure"}]}' |
    ask "/v1/jars/$1/responses" > /dev/null
echo '{"url":"https://www.example.com/"}' | ask "/v1/jars/$1/decorate"
