"""Reads a QR code that was drawn with half blocks, by a program that knows nothing of how."""

import re
import subprocess
import tempfile

SCALE = 4
# Written in the upper half, the lower half.
BLOCKS = {" ": (False, False), "\u2580": (True, False), "\u2584": (False, True), "\u2588": (True, True)}
COLORED = re.compile("\x1b\\[38;5;16;48;5;231m([ \u2580\u2584\u2588]+)\x1b\\[0m")
PLAIN = re.compile("^[ \u2580\u2584\u2588]{20,}$", re.M)


def read(talk, isColored):
    """The text of the code that is among the lines of `talk`."""
    lines = (COLORED if isColored else PLAIN).findall(talk.replace("\r", ""))
    rows = []
    for line in lines:
        for half in (0, 1):
            # In colour what is written is black; without, it is what shines on a dark terminal.
            rows.append([BLOCKS[character][half] == isColored for character in line])
    if not rows or len({len(row) for row in rows}) != 1:
        raise AssertionError(f"no code: {len(rows)} rows")
    pixels = bytearray()
    for row in rows:
        line = bytes(0 if isDark else 255 for isDark in row for _ in range(SCALE))
        pixels += line * SCALE
    with tempfile.NamedTemporaryFile(suffix=".pgm") as file:
        file.write(b"P5 %d %d 255\n" % (len(rows[0]) * SCALE, len(rows) * SCALE) + pixels)
        file.flush()
        # Around it there is only as much as was drawn: the quiet zone is part of what is tested.
        answer = subprocess.run(
            ["zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", file.name], capture_output=True, text=True,
            check=False)
    return answer.stdout.strip()
