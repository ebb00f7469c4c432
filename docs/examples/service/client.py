import json, os, sys, urllib.request

def ask(method, path, document):
    with open(os.environ["CRUMB_SERVICE_TOKEN_FILE"]) as file:
        fields = {"Authorization": f"Bearer {file.read().strip()}", "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["CRUMB_SERVICE"] + path, json.dumps(document).encode(), fields, method=method)
    return urllib.request.urlopen(request).read().decode()

jar = sys.argv[1]
ask("PUT", f"/v1/jars/{jar}", {})
field = {"name": "Set-Cookie", "value": "sid=1; Path=/; Secure"}
ask("POST", f"/v1/jars/{jar}/responses", {"url": "https://www.example.com/login", "headers": [field]})
print(ask("POST", f"/v1/jars/{jar}/decorate", {"url": "https://www.example.com/"}), end="")
