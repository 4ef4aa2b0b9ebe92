"""Examples of reports that attack whoever runs them: what they reach, and what of it the comment says."""

import json
import os
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from testing.checkouts.git_repositories import commit
from testing.runs.recording_docker import RecordingDocker
from triage.base.errors import BadInput
from triage.domain.issue import Repository
from triage.domain.project_config import LanguageConfig
from triage.reproduce.environments import docker, environment, source
from triage.reproduce.evidence import Evidence, Execution, Expected, Failure, Run, Selection, Target
from triage.reproduce.example.example import Example, Project
from triage.reproduce.jobs import handover
from triage.reproduce.pages import Pages
from triage.reproduce.render_evidence import render_evidence
from trust.markdown_judge import judge_page
from trust.measure import Measure, MeasureResult, sample_evenly

SECRET = "ghs_" + "k7" * 18
EVIL = "[see](https://evil.example/a) @mona #1 <img src=https://evil.example/c> </details>\n/deploy ::error::x"
LINKS = ["https://github.com/octo/shop/"]
SECONDS, MAX_SECONDS, MAX_BYTES = 3.0, 20.0, 500_000
NEEDED = {
    "--network": "none",
    "--cap-drop": "ALL",
    "--security-opt": "no-new-privileges",
    "--user": "65534:65534",
    "--pids-limit": "256",
    "--memory": "2g",
    "--memory-swap": "2g",
    "--tmpfs": "/tmp:rw,nosuid,nodev,size=256m,mode=1777",
}
FORBIDDEN = ("--privileged", "--volume", "-v", "--mount", "--device", "--env-file", "--pid", "--ipc", "docker.sock")
SELECTED = Selection(
    project=Project(language="python", package="shop", modules=["shop"]),
    example=Example(language="python", code="import shop\n"),
    expected=Expected(errors=[Failure(type="ValueError", message="no items")]),
    targets=[Target(on=name, version=name, time=datetime(2023, 1, 1, tzinfo=UTC), pythons=["3.11"]) for name in "12"],
)
FAILED = Run(on="1", outcome="failed", error="ValueError: no items", repeats=2, failures=2, same_failure=True)
FORGED = Evidence(verdict="fixed", measure="error", runs=[FAILED, FAILED.model_copy(update={"on": "2"})])


@dataclass(frozen=True)
class Attack:
    name: str
    code: str
    judge: Callable[[Execution], bool] = lambda _: True
    """Whether the run is told as what it was."""


FORGED_RECORD = json.dumps(
    {"code": 0, "late": False, "output": EVIL, "record": {"errors": [{"type": EVIL, "frames": [[EVIL, 1, EVIL]]}]}}
)
ATTACKS = [
    Attack("reads the environment", "import os\nprint(dict(os.environ), open('/proc/self/environ').read())"),
    Attack("reads the parent's environment", "import os\nprint(open(f'/proc/{os.getppid()}/environ').read())"),
    Attack("prints without end", "while True: print('x' * 100_000)", lambda run: run.outcome == "timed-out"),
    Attack("never ends", "import time\ntime.sleep(600)", lambda run: run.outcome == "timed-out"),
    Attack(
        "leaves a process behind",
        "import os, time\nif not os.fork():\n    time.sleep(600)\nprint('end')",
        lambda run: run.outcome == "passed",
    ),
    Attack("says that it ended well", "import os\nos._exit(0)", lambda run: run.outcome == "could-not-run"),
    Attack(
        "prints a record",
        f"print({FORGED_RECORD!r})",
        lambda run: run.outcome == "passed" and not run.failures,
    ),
    Attack(
        "writes a record to each pipe",
        f"import os\nfor pipe in range(3, 30):\n    try: os.write(pipe, {FORGED_RECORD!r}.encode())\n"
        "    except OSError: pass\nos._exit(1)",
        lambda run: run.outcome != "passed",
    ),
    Attack("raises in a file with an odd name", f"exec(compile('raise ValueError(1)', {EVIL!r}, 'exec'))"),
    Attack("raises an error with an odd name", f"raise type({EVIL!r}, (Exception,), {{}})({EVIL!r})"),
    Attack("prints markup", f"print({EVIL!r})\nprint('`' * 90)"),
]
SHELL_ATTACKS = [
    Attack("reads the environment in a shell", "env; cat /proc/$PPID/environ"),
    Attack("prints without end in a shell", "while :; do echo xxxxxxxxx; done", lambda run: run.outcome == "timed-out"),
    Attack("ends the shell around it", "kill -9 $PPID; exit 0", lambda run: run.outcome != "failed"),
    Attack("says that it was not built", "exit 97", lambda run: run.reason == "it cannot be built"),
    Attack("prints markup in a shell", f"echo {shlex.quote('error: ' + EVIL)}; exit 1"),
]
IN_SHELL = Project(
    language="other", package="", image="debian", languages={"sh": LanguageConfig(file="a.sh", run="sh a.sh")}
)


def run(share: float) -> MeasureResult:
    with TemporaryDirectory() as name:
        bench = _Bench(Path(name))
        attacks = [*product(ATTACKS, [SELECTED.project]), *product(SHELL_ATTACKS, [IN_SHELL])]
        cases: list[Callable[[], Iterator[str]]] = [bench.install, bench.forge]
        cases += [partial(bench.attack, *one) for one in attacks]
        failures = [problem for case in sample_evenly(cases, share) for problem in case()]
    return MeasureResult(len(cases), failures)


class _Bench:
    """A repository, and the program `docker`."""

    def __init__(self, folder: Path) -> None:
        self._docker = RecordingDocker.install(folder)
        (folder / "repo").mkdir()
        commit(folder / "repo", {"shop/__init__.py": "x = 1\n"})
        self._source = source.Source(folder / "repo")
        self._pages = Pages(self._source, Repository(slug="octo/shop", server_url="https://github.com"))
        self._environ = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "GITHUB_TOKEN": SECRET}

    def attack(self, attack: Attack, project: Project = SELECTED.project) -> Iterator[str]:
        example = SELECTED.example.model_copy(update={"code": f"import shop\n{attack.code}\n"})
        target = SELECTED.targets[0]
        if project.recipe:
            example = Example(language="sh", code=f"{attack.code}\n")
            target = target.model_copy(update={"version": "", "commit": self._source.resolve("HEAD")})
            image = self._docker.folder / "image"  # as the lines of the settings leave it
            rmtree(image, ignore_errors=True)
            for name in ("built/home", "built/source", "work"):
                (image / name).mkdir(parents=True)
        started = time.monotonic()
        with docker.DockerEnvironments(self._source, self._environ) as environments:
            built = environments.build(target, project)
            execution = built.run(example, project, SECONDS)
        if (seconds := time.monotonic() - started) > MAX_SECONDS:
            yield f"{attack.name}: took {seconds:.0f} s"
        if len(record := execution.model_dump_json()) > MAX_BYTES:
            yield f"{attack.name}: {len(record)} bytes"
        if not attack.judge(execution):
            yield f"{attack.name}: counts as {execution.outcome} with {execution.failures}"
        if SECRET in record:
            yield f"{attack.name}: reads a secret"
        yield from (
            f"{attack.name}: {problem}" for problem in [*self._judge_calls(attack), *self._judge_page(execution)]
        )

    def _judge_calls(self, attack: Attack) -> Iterator[str]:
        for call in self._docker.list_calls("run"):
            words = call["words"]
            given = list(pairwise(words))
            yield from (
                f"runs without {key} {value}"
                for key, value in NEEDED.items()
                if (key, value) not in given or (key != "--tmpfs" and words.count(key) > 1)
            )
            yield from (
                f"runs with {word}" for word in FORBIDDEN if any(word == one.partition("=")[0] for one in words)
            )
            if "--read-only" not in words or SECRET in str(words):
                yield "runs with a secret, or a disk"
        for call in self._docker.list_calls("build"):
            if SECRET in str(call) or attack.code in str(call["files"]):
                yield "builds with a secret, or with the example"

    def _judge_page(self, execution: Execution) -> Iterator[str]:
        failure = execution.failures[0] if execution.failures else None
        place = failure.frames[-1] if failure and failure.frames else None
        ran = FAILED.model_copy(
            update={
                "error": failure.text if failure else "",
                "output": execution.output,
                "place": place,
                "executed": execution.executed,
            }
        )
        page = render_evidence(SELECTED, FORGED.model_copy(update={"runs": [ran, FORGED.runs[1]]}), self._pages)
        yield from (f"live: {one}" for one in judge_page(page, LINKS).live_effects)

    def install(self) -> Iterator[str]:
        """Packages of strangers are unpacked, and run nothing: all that is installed are wheels."""
        project = SELECTED.project.model_copy(update={"companions": ["evil"]})
        for target in (SELECTED.targets[0], SELECTED.targets[0].model_copy(update={"version": "", "commit": "0" * 40})):
            recipe = docker.write_dockerfile(target, project)
            for line in recipe.splitlines():
                words = line.replace('"', " ").replace(",", " ").split()
                if "install" in words and "--only-binary" not in words:
                    yield f"builds the packages of others: {line[:80]}"

    def forge(self) -> Iterator[str]:
        """Whoever breaks out writes the file for the next job: its words are shown as text, its verdict not at all."""
        accepted = handover.accept_evidence(SELECTED, FORGED)
        if accepted is None or accepted.verdict != "still":
            yield f"a forged verdict counts: {accepted and accepted.verdict}"
        paths = _list_texts(FORGED.model_dump(mode="json"))
        for path, word in product(paths, (EVIL, "@mona")):  # most texts are short
            data = _replace(FORGED.model_dump(mode="json"), path, word)
            try:
                (forged,) = handover.parse_orders(json.dumps({"orders": [{"number": 7, "evidence": data}]}).encode())
            except BadInput:
                continue
            assert forged.evidence
            page = render_evidence(SELECTED, forged.evidence, self._pages)
            yield from (f"live in {path}: {one}" for one in judge_page(page, LINKS).live_effects)


def _list_texts(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(tree, str):
        yield path
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from _list_texts(value, (*path, key))


def _replace(tree: Any, path: tuple[Any, ...], word: str) -> Any:
    if not path:
        return word
    tree[path[0]] = _replace(tree[path[0]], path[1:], word)
    return tree


WITHOUT_DEFENCE: dict[str, tuple[object, str, Any]] = {
    "containers are open": (docker, "ISOLATION", ()),
    "packages are built": (environment, "ONLY_WHEELS", ()),
    "the file's verdict counts": (handover, "decide_verdict", lambda *_: "fixed"),
}
"""By what is then wrong, a defence and what stands in for it."""


def run_without_defence() -> MeasureResult:
    """Returns no failure unless there is one without each."""
    found: list[list[str]] = []
    for module, name, replacement in WITHOUT_DEFENCE.values():
        with patch.object(module, name, replacement), TemporaryDirectory() as folder:
            bench = _Bench(Path(folder))
            found.append([*bench.attack(ATTACKS[0]), *bench.install(), *bench.forge()])
    return MeasureResult(len(found), [failure for one in found for failure in one] if all(found) else [])


MEASURE = Measure(
    "Examples that attack",
    "0",
    "An example that reads the environment, forges records or never ends; containers are plain processes: a secret, a "
    "missing limit, a wrong outcome, live markup.",
    run,
    run_without_defence,
)
