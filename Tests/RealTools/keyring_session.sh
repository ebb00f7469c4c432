#!/bin/sh
# Opens a page in Chromium within a desktop session that has a keyring, looks the browser's password up, writes the
# address of the session's bus into a file, and keeps the session until it is ended.
#
# Usage: dbus-run-session -- keyring_session.sh PROXY PROFILE URL PASSWORD-FILE BUS-FILE
set -eu

echo keyring | gnome-keyring-daemon --unlock --components=secrets --daemonize
sandbox=
[ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox
chromium --headless=new $sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --password-store=gnome-libsecret --ignore-certificate-errors \
    --proxy-server="$1" --user-data-dir="$2" --host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' \
    --virtual-time-budget=2000 --dump-dom "$3"
secret-tool lookup application chromium >"$4"
echo "$DBUS_SESSION_BUS_ADDRESS" >"$5.new"
mv "$5.new" "$5"
exec sleep 600
