"""Two services go on while the key of their database is rotated."""

import argparse
import json
import os
import shutil
import sys
import threading
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "ServiceFaults"))

from restore import Server  # noqa: E402
from service import Service  # noqa: E402


def main() -> int:
    """Runs the check; 0 if all is as it should be."""
    parser = argparse.ArgumentParser(prog="Scripts/cluster-restore", description=__doc__)
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to run")
    parser.add_argument("--folder", type=Path, required=True, help="an empty folder for everything")
    options = parser.parse_args()
    shutil.chown(options.folder, "postgres")
    database = Server(options.folder)
    services = []
    for name in ("one", "other"):
        (options.folder / name).mkdir()
        services.append(Service(options.crumb, options.folder / name))
    one, other = services
    one.run("jars", "create", "first")
    keys = [Path(service.environment["CRUMB_KEY_FILE"]) for service in services]

    def distribute() -> None:
        # In one step: a service may read it at any moment.
        new = keys[1].with_suffix(".new")
        new.touch(mode=0o600)
        new.write_bytes(keys[0].read_bytes())
        os.replace(new, keys[1])

    distribute()
    for service in services:
        service.environment |= {"CRUMB_DATABASE": database.url}
    one.run("cluster", "create")
    for service in services:
        service.start()
    failures: list[str] = []
    is_done = threading.Event()

    def write(service: Service, jar: str) -> None:
        connection = service.connect()
        connection.ask("PUT", f"/v1/jars/{jar}", {})
        number = 0
        while not is_done.is_set() or number < 50:
            number += 1
            line = {"name": "Set-Cookie", "value": f"n{number % 40}={number}; Path=/"}
            stored = connection.ask("POST", f"/v1/jars/{jar}/responses", {"url": "https://a.test/", "headers": [line]})
            sent = connection.ask("POST", f"/v1/jars/{jar}/decorate", {"url": "https://a.test/"})
            if stored.status != 200 or f"n{number % 40}={number}" not in sent.body.decode():
                failures.append(f"{jar}, {number}: {stored.status}, {sent.status} {sent.body.decode()[:200]}")
                return

    threads = [threading.Thread(target=write, args=(service, f"jar-{index}-{number}"))
               for index, service in enumerate(services) for number in range(4)]
    for thread in threads:
        thread.start()
    resealed = []
    for _ in range(3):
        one.run("cluster", "rotate-key", "--new-key")
        distribute()
        resealed.append(json.loads(one.run("cluster", "rotate-key", "--json"))["resealed"])
        keys[0].write_bytes(keys[0].read_bytes().splitlines(keepends=True)[-1])
        distribute()
    is_done.set()
    for thread in threads:
        thread.join()
    for service in services:
        service.stop()
        service.start()
        for index in range(len(threads)):
            jar = f"jar-{index // 4}-{index % 4}"
            page = json.loads(service.connect().ask("GET", f"/v1/jars/{jar}/cookies").body)
            if len(page["cookies"]) != 40:
                failures.append(f"{jar}: {len(page['cookies'])} cookies after a restart")
        service.stop()
    database.stop("data")
    for failure in failures:
        print(failure)
    print(f"rotated the key three times, {resealed} values: {'FAILURES' if failures else 'all could be read and written'}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        status = main()
    finally:
        Service.kill_all()
    sys.exit(status)
