"""The processes of the machine, as everybody sees them."""

import pathlib


def seen(secrets, besides=()):
    """The processes whose arguments or environment have one of the secrets in them.

    The environment of those whose numbers are in `besides` is passed over.
    """
    found = set()
    secrets = [secret.encode() for secret in secrets]
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        for name in ("cmdline", "environ"):
            if name == "environ" and int(folder.name) in besides:
                continue
            try:
                shown = (folder / name).read_bytes()
            except OSError:
                continue
            if any(secret in shown for secret in secrets):
                found.add((name, shown[:300]))
    return found
