"""The runner's log and files: texts that are commands, in every runner that is logged or written to a file."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.runner_grammar import StepFailsError, parse_commands, parse_pairs
from testing.runs import sample_bug as plain
from testing.servers.github_api import serve_issue
from testing.webhooks.event_runner import EventResult, EventRunner
from trust import injection_scenario
from trust.allowed_effects import OUTPUTS
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.observed_run import observe_run

CANARY = "PWNED"
"""Start of each injected command; ours never start so."""
OURS = frozenset({"add-mask", "error", "warning", "notice"})
KEYS = frozenset({"file", "line", "endLine"})
_BEFORE = (
    *("", " ", "\t", "words\n", "words\r", "words\r\n", "\x0b", "words\x0c", "words\x85", "words\u2028", "words\u2029"),
    *("\ufeff", "\x00", "\x1b[0m", "\u200b", "\u00ad", "words%0A", "words%0D%0A", "words\\n", "|\n| \n"),
    *("x" * 3_999, "x" * 4_000 + "\n", "x" * 70_000),
)
_FORMS = (
    "::{name}::PWNED",
    "::{name} file=a,line=1::PWNED",
    "##[{name}]PWNED",
    "text ##[{name} name=PATH;]PWNED",
    "#\u200b#[{name}]PWNED",
    ":\u200b:{name}::PWNED",
    "##\x00[{name}]PWNED",
    "##[##[{name}]PWNED",
    "::group::words\n::{name}::PWNED",
)
_NAMES = ("error", "set-env", "add-path", "add-mask", "stop-commands", "set-output", "debug", "SAVE-STATE", "Group")
TOGETHER = 9


def build_payloads() -> list[str]:
    pairs = [(before, form) for before in _BEFORE for form in _FORMS]
    return [before + form.format(name=_NAMES[number * 4 % len(_NAMES)]) for number, (before, form) in enumerate(pairs)]


def run(share: float) -> MeasureResult:
    chosen = sample_evenly(build_payloads(), share)
    failures: list[str] = []
    for at in range(0, len(chosen), TOGETHER):
        failures += _run_whole(chosen[at : at + TOGETHER], at)
    with TemporaryDirectory() as folder, serve_issue(plain.TITLE, plain.BODY) as github:
        runner = EventRunner(Path(folder), github)
        for payload in chosen:
            failures += [f"{name}, {payload[:60]!r}: {words}" for name, words in _run_early(runner, payload)]
    places = len(injection_scenario.CHANNELS) + len(EARLY_ENDS)
    return MeasureResult(len(chosen) * places, failures, f"{places} places")


def _run_whole(chosen: list[str], seed: int) -> Iterator[str]:
    observed = observe_run(lambda trap: injection_scenario.build_scenario(chosen, seed, trap))
    for words in [*find_foreign_commands(observed.log), *find_output_problems(observed.outputs)]:
        yield f"a whole run with {chosen[0][:60]!r}: {words}"
    yield from (
        f"a whole run wrote GITHUB_{name.upper()}" for name, content in observed.unused_files.items() if content
    )


def find_foreign_commands(log: str) -> list[str]:
    found: list[str] = []
    for command in parse_commands(log):
        properties = command.properties
        numbers = [value for key, value in properties.items() if key in ("line", "endLine")]
        if command.name not in OURS or command.data.lstrip().startswith(CANARY) or not properties.keys() <= KEYS:
            found.append(f"the runner executes {command.name} {command.data[:40]!r}")
        elif command.name == "add-mask" and CANARY in command.data:
            found.append(f"a foreign {command.name}: {command.data[:40]!r}")
        elif not all(value.isdigit() for value in numbers):
            found.append(f"a line number that is no number: {numbers}")
    return found


def find_output_problems(content: bytes) -> list[str]:
    """Returns outputs that action.yml does not declare, or that occur twice."""
    try:
        pairs = parse_pairs(content)
    except StepFailsError as error:
        return [f"the step fails: {error}"]
    names = [name for name, _ in pairs]
    unknown = [f"an output {name[:40]!r}" for name in names if name not in OUTPUTS]
    return unknown + [f"{name} twice" for name in dict.fromkeys(names) if names.count(name) > 1]


def _event(**told: object) -> bytes:
    return json.dumps({"action": "opened", "issue": {"number": 7}} | told).encode()


_MONA = {"login": "mona", "type": "User"}
Early = Callable[[EventRunner, str], EventResult]
EARLY_ENDS: dict[str, Early] = {
    "the event's name": lambda job, words: job.run(_to_variable(words), _event()),
    "the event's action": lambda job, words: job.run("issues", _event(action=words)),
    "the issue's number": lambda job, words: job.run("issues", _event(issue={"number": words})),
    "the sender": lambda job, words: job.run("issues", _event(action="edited", sender={"login": words, "type": words})),
    "a pull request": lambda job, words: job.run("issues", _event(issue={"number": 7, "pull_request": words})),
    "a payload that is no JSON": lambda job, words: job.run("issues", words.encode("utf-8", "replace")),
    "a command in a comment": lambda job, words: job.run(
        "issue_comment", _event(action="created", comment={"body": f"/triage {words}", "user": _MONA}, sender=_MONA)
    ),
    "an input that is a choice": lambda job, words: job.run("issues", _event(), INPUT_ENGINE=_to_variable(words)),
    "an input that is a number": lambda job, words: job.run(
        "issues", _event(), **{"INPUT_MAX-TOKENS": _to_variable(words)}
    ),
    "an input that is an address": lambda job, words: job.run(
        "issues", _event(), **{"INPUT_MODEL-BASE-URL": _to_variable(words)}
    ),
    "an input that is a path": lambda job, words: job.run(
        "issues", _event(), **{"INPUT_CONFIG-FILE": _to_variable(words)}
    ),
    "the server's address": lambda job, words: job.run("issues", _event(), GITHUB_API_URL=_to_variable(words)),
    "the repository's name": lambda job, words: job.run("issues", _event(), GITHUB_REPOSITORY=_to_variable(words)),
}


def _to_variable(words: str) -> str:
    # An environment variable has no null bytes.
    return words.replace("\0", "")[:60_000]


def _run_early(runner: EventRunner, payload: str) -> Iterator[tuple[str, str]]:
    for name, start in EARLY_ENDS.items():
        done = start(runner, payload)
        output = runner.folder / "output"
        content = output.read_bytes() if output.exists() else b""
        yield from ((name, words) for words in [*find_foreign_commands(done.log), *find_output_problems(content)])


def run_without_defence() -> MeasureResult:
    """A program that prints its input and writes outputs without escaping."""
    chosen = build_payloads()
    failures = [words for payload in chosen for words in find_foreign_commands(f"Triage of {payload}\n{payload}\n")]
    return MeasureResult(
        len(chosen) + 1, failures + find_output_problems(b"status=complete\nticket-title=x\nset=1\nstatus=failed\n")
    )


MEASURE = Measure(
    "Commands in the log",
    "0",
    "A text that the runner executes, in every place that is logged: any command but ours.",
    run,
    run_without_defence,
)
