"""The command on a terminal."""

import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import fcntl

COLUMNS, ROWS = 100, 60


def talk(crumb, words, variables, until, is_over=lambda: True, timeout=60):
    """What the command says on a terminal, up to a second after `until` has come and `is_over`; then it is stopped."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [crumb.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave,
        env={**crumb.environment, **variables})
    os.close(slave)
    said, deadline = b"", time.monotonic() + timeout
    try:
        while time.monotonic() < deadline:
            if select.select([master], [], [], 1)[0]:
                try:
                    said += os.read(master, 1 << 16)
                except OSError:
                    break
            elif until in said and is_over():
                break
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        os.close(master)
    return said.decode()
