"""Child processes that end with the run, however it ends."""

import os
import signal
import subprocess
import time
from pathlib import Path
from socket import create_server


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at now, all different."""
    listeners = [create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


class Processes:
    """Starts programs with a private home folder, and stops whatever they have left behind.

    `folder` must be the run's own: every process that names it on its command line is taken for one of the run's,
    since browsers start helpers in sessions of their own.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, command: list[str], name: str, environment: dict[str, str] | None = None,
              **options: object) -> subprocess.Popen[bytes]:
        """Starts `command` in a session of its own; what it says goes into the folder's `name.log`."""
        home = self.folder / f"{name}-home"
        runtime = home / "runtime"
        runtime.mkdir(parents=True, exist_ok=True)
        runtime.chmod(0o700)
        with open(self.log(name), "ab") as log:
            settings: dict[str, object] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **options}
            process = subprocess.Popen(  # type: ignore[call-overload]
                command, start_new_session=True, cwd=home,
                env={**_inherited(), "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "TMPDIR": str(home),
                     **(environment or {})}, **settings)
        self._started.append(process)
        return process

    def log(self, name: str) -> Path:
        """Where a program's output goes."""
        return self.folder / f"{name}.log"

    def stop(self, process: subprocess.Popen[bytes], grace: float = 5) -> None:
        """Asks the process's group to end, and after `grace` seconds does not ask any more."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            _signal(process, number)
            try:
                process.wait(grace)
                break
            except subprocess.TimeoutExpired:
                continue
        _signal(process, signal.SIGKILL)

    def kill_all(self) -> None:
        """Ends what was started, and what that has started, without a warning."""
        for process in self._started:
            _signal(process, signal.SIGKILL)
            process.wait()
        self._kill_remaining()

    def stop_all(self) -> None:
        """Stops what was started, and what that has started."""
        for process in self._started:
            if process.poll() is None:
                self.stop(process, grace=2)
        self._kill_remaining()

    def _kill_remaining(self) -> None:
        for _ in range(20):
            remaining = processes_naming(self.folder)
            for pid in remaining:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            if not remaining:
                return
            time.sleep(0.05)


def processes_naming(folder: Path) -> list[int]:
    """Processes that name a folder on their command line."""
    needle = os.fsencode(folder)
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if needle in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except OSError:
        pass


def _inherited() -> dict[str, str]:
    """The environment without what leads out of the laboratory: proxies, displays, session buses."""
    dropped = {"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"}
    return {name: value for name, value in os.environ.items()
            if name not in dropped and not name.lower().endswith("_proxy")}
