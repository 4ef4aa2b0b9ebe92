"""A program named `docker` that records how it is called, and runs containers as plain processes.

Their environment is what `--env` gives them, as in a container. Nothing else of a container is there. The command that
DOCKER_FAILS names fails.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = """#!{python} -I
import json, os, pathlib, sys
folder, words = pathlib.Path({folder!r}), sys.argv[1:]
call = {{"words": words, "files": {{}}}}
if words[0] == "build":
    context = pathlib.Path(words[-1])
    call["files"] = {{str(path.relative_to(context)): path.read_text(errors="replace") for path in context.rglob("*") if path.is_file()}}
    for name, text in call["files"].items():
        copy = folder / "image" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
with open(folder / "calls.jsonl", "a") as log:
    log.write(json.dumps(call) + "\\n")
if words[0] == os.environ.get("DOCKER_FAILS"):
    sys.exit("#7 1.2 error: no such package")
if words[0] == "run":
    given = dict(words[place + 1].split("=", 1) for place, word in enumerate(words) if word == "--env")
    os.chdir(folder)
    if "sh" in words:
        os.execve("/bin/sh", [one.replace("/reproduce", str(folder / "image")) for one in words[words.index("sh") :]], given)
    command = words[words.index("/reproduce/env/bin/python") + 1 :]
    given |= {{"PYTHONPATH": str(folder / "packages"), "PATH": os.defpath}}
    os.execve({python!r}, [{python!r}, *(one.replace("/reproduce", str(folder / "image")) for one in command)], given)
"""


@dataclass(frozen=True)
class RecordingDocker:
    folder: Path

    @classmethod
    def install(cls, folder: Path) -> "RecordingDocker":
        """Make the program, and a package `shop` that examples import."""
        (folder / "bin").mkdir()
        program = folder / "bin" / "docker"
        program.write_text(_PROGRAM.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
        (folder / "packages" / "shop").mkdir(parents=True)
        (folder / "packages" / "shop" / "__init__.py").write_text("def total(items):\n    return sum(items)\n")
        return cls(folder)

    def list_calls(self, command: str = "") -> list[dict[str, Any]]:
        """Return all calls, or those of `docker build` or `docker run`: `words`, and the `files` of a build's folder."""
        lines = (self.folder / "calls.jsonl").read_text().splitlines()
        return [call for call in map(json.loads, lines) if call["words"][0] == (command or call["words"][0])]
