"""The command in a home of its own."""

import json
import os
import pathlib
import sqlite3
import subprocess


class Result:
    def __init__(self, process, output, talk):
        self.status, self.output, self.talk = process.returncode, output, talk

    @property
    def json(self):
        return json.loads(self.output)


class Crumb:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.said = []
        programs = self.folder / "programs"
        programs.mkdir()
        # The browser: the page that it is to open goes to the file that the test waits for.
        opener = programs / "xdg-open"
        opener.write_text('#!/bin/sh\nprintf "%s" "$1" > "$HOME/opened.new" && mv "$HOME/opened.new" "$HOME/opened"\n')
        opener.chmod(0o755)
        self.environment = {
            "HOME": str(self.folder), "PATH": f"{programs}:{os.environ['PATH']}",
            "XDG_DATA_HOME": str(self.folder), "CRUMB_KEY_FILE": str(self.folder / "key"),
        }

    @property
    def database(self):
        """The default database, which commands treat as empty until something is stored."""
        return self.folder / "crumb" / "crumb.sqlite"

    def start(self, *words, variables=None, **options):
        return subprocess.Popen(
            [self.program, *words], env={**self.environment, **(variables or {})}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def end(self, process, text=""):
        output, talk = process.communicate(text, timeout=120)
        self.said.append(talk)
        return Result(process, output, talk)

    def __call__(self, *words, text="", variables=None):
        return self.end(self.start(*words, variables=variables), text)

    def secret_file(self, secret):
        path = self.folder / "client-secret"
        path.write_text(secret + "\n")
        path.chmod(0o600)
        return str(path)

    def expire(self, name):
        """Lets the access token end now."""
        with sqlite3.connect(self.database, timeout=30) as connection:
            connection.execute("UPDATE token_profile SET access_expires_at = 1 WHERE name = ?", (name,))
        connection.close()

    def refreshes(self, name):
        with sqlite3.connect(self.database, timeout=30) as connection:
            count = connection.execute(
                "SELECT count(*) FROM token_change WHERE name = ? AND cause = 2", (name,)).fetchone()[0]
        connection.close()
        return count
