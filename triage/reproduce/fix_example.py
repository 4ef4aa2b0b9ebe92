"""A report's example for the fix flow, which may not import this feature."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from triage.base.errors import BadInput, GitError
from triage.domain.issue import Issue
from triage.domain.project_config import ReproduceConfig
from triage.domain.proposal import ExampleOutcome, ExampleResult
from triage.reproduce.environments.environment import RUN_VARIABLES, RUNNER
from triage.reproduce.environments.source import find_folder, has_entry_files
from triage.reproduce.evidence import Execution, Expected
from triage.reproduce.example.example import Example, Project
from triage.reproduce.expected import is_same_message, is_same_output
from triage.reproduce.project_checkout import NothingToRun, ProjectCheckout
from triage.reproduce.runner.read_record import read_record
from triage.reproduce.verdict import choose_failure, classify, is_same_result

RUN_SECONDS = 60
MAX_SHOWN_CHARS = 2_000
_PYTHON = """\
for python in "${{VIRTUAL_ENV:-.venv}}/bin/python" .venv/bin/python venv/bin/python python python3; do
  command -v "$python" >/dev/null && break
done
export PYTHONPATH="$PWD/{folder}:$PWD:$PYTHONPATH"
for run in 1 2; do "$python" "$here/example.py" {seconds} {session} {modules} <"$here/example.txt"; done
"""
_NODE = """\
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
own="$root/node_modules/"{modules}
mkdir -p "$(dirname "$own")" && ln -s "$PWD" "$own"
ln -s "$PWD"/node_modules/* "$root/node_modules/" 2>/dev/null
for run in 1 2; do node "$here/example.cjs" {seconds} "$root" {modules} <"$here/example.txt"; done
"""


@dataclass(frozen=True)
class FixExample:
    """Code of the report that uses the project. Both runs on one side have to end alike, or nothing is said."""

    project: Project
    example: Example
    expected: Expected
    folder: str | None
    """Where the project's modules are in the repository, such as `src`. None if they are built, so that a patch
    changes nothing of them, or in another language."""

    @property
    def code(self) -> str:
        return self.example.code

    @property
    def files(self) -> dict[str, str]:
        """By name. `example.sh`, in the folder of the project, prints what its recorder says of each run."""
        if self.folder is None:
            return {}
        is_node = self.example.language == "node"
        session, modules = int(self.example.is_session), shlex.join(self.project.modules)
        variables = shlex.join(f"{name}={value}" for name, value in RUN_VARIABLES.items())
        run = (_NODE if is_node else _PYTHON).format(
            folder=self.folder, seconds=RUN_SECONDS, session=session, modules=modules
        )
        recorder = RUNNER / ("record_node.cjs" if is_node else "record_python.py")
        return {
            "example.sh": f'here=$(dirname "$0")\nexport {variables}\n{run}',
            "example.txt": self.example.code,
            f"example{recorder.suffix}": recorder.read_text(encoding="utf-8"),
        }

    def describe(self) -> str:
        """Return the example and what the report says of it, for a model."""
        shown = [*(error.text for error in self.expected.errors), *map("\n".join, self.expected.printed)]
        parts = {
            "Changed in the reporter's text": "\n".join(self.example.changed),
            "The report shows": "\n".join(dict.fromkeys(shown))[:MAX_SHOWN_CHARS],
        }
        named = [f"{title}:\n{text}" for title, text in parts.items() if text]
        return "\n\n".join([self.example.code.rstrip(), *named])

    def _read(self, runs: bytes) -> Execution | str:
        """Return what two runs say, or why they say nothing."""
        first, second = (read_record(line) for line in [*runs.splitlines(), b"", b""][:2])
        outcome, reason = classify(first, self.expected)
        if outcome not in ("passed", "failed"):
            return reason
        prints_alike = outcome == "failed" or is_same_output(first.output, second.output)
        is_same = prints_alike and is_same_result(first, second, self.expected)
        return first if is_same else "it does not end the same way twice"

    def compare(self, before: bytes, after: bytes) -> ExampleResult:
        """Return what became of the example: two runs on the base commit, and two with the change."""
        old, new = self._read(before), self._read(after)
        if isinstance(old, str):
            return ExampleResult(outcome="not-run", reason=old)
        if isinstance(new, str):
            return ExampleResult(outcome="not-run", reason=f"{new}, with this change")
        was, now = choose_failure(old, self.expected), choose_failure(new, self.expected)
        outcome: ExampleOutcome = "fixed" if was else "broken"
        if was and now:
            is_same = was.type == now.type and is_same_message(was.message, now.message)
            outcome = "still" if is_same else "other"
        elif not was and not now:
            outcome = "unchanged" if is_same_output(old.output, new.output) else "changed"
        return ExampleResult(outcome=outcome)


def open_fix_example(root: Path, config: ReproduceConfig, issue: Issue) -> FixExample | None:
    """Return the example of a report, of the project as it is at HEAD; None without one. No registry is asked. Slow."""
    try:
        checkout = ProjectCheckout(root, config)
        example, expected = checkout.read(issue)
        source = checkout.source
        paths, manifest = source.list_own(checkout.head), source.read_own(checkout.head, "package.json")
        project_folder = source.find_own(checkout.head)
    except (BadInput, GitError, NothingToRun):
        return None
    project, folder = checkout.project, None
    if project.language == "python":
        folder = (project_folder + find_folder(paths, project.modules[0])).rpartition("/")[0]
    elif project.language == "node" and not project_folder and has_entry_files(manifest, paths):
        folder = ""
    return FixExample(project, example, expected, folder)
