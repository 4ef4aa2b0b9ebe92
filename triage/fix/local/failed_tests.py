"""Which tests failed, by what test runners print; and the command that runs a few test files alone."""

import re
import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple

MAX_NAMES = 2_000
MAX_NAME_CHARS = 300
_TIME = r"(?:[ \t]+[\[(]?\d+(?:\.\d+)?\s?m?s[\])]?)?"
_FAILED = re.compile(
    r"^(?:"
    r"(?:FAILED|ERROR) (?P<pytest>\S+\.py(?:::[^\[\n]*?(?:\[.*\])?)?)(?= - |$)"
    r"|(?:FAIL|ERROR): (?P<unittest>\S+ \([\w.]+\)(?: [\[(].*)?)$"
    r"|[ \t]*--- FAIL: (?P<go>\S+)"
    r"|test (?P<cargo>\S.*) \.\.\. FAILED$"
    r"|[ \t]*● (?!Console$)(?P<jest>\S.*)$"
    rf"|[ \t]*(?:FAIL[ \t]|[✖✕×])[ \t]*(?P<marked>\S.*?){_TIME}$"
    r"|[ \t]*not ok \d+ (?:- )?(?P<tap>\S.*)$"
    r"|\[ERROR\]\s+(?P<maven>\S+)[ \t].*<<< (?:FAILURE|ERROR)!$"
    r"|(?P<gradle>\S[^>\n]* > .+) FAILED$"
    r"|rspec \S+ # (?P<rspec>.+)$"
    r"|\d+\) (?P<phpunit>[\w\\]+::\S.*)$"
    r"|  \d+\) (?P<mocha>\S.*(?:\n {7,}\S.*){0,9}?):$"
    r")",
    re.MULTILINE,
)
"""Lines of pytest, unittest, go, cargo, jest, vitest, node, TAP, Maven, Gradle, rspec, phpunit and mocha."""


def list_failed_tests(output: str) -> list[str]:
    """Return the names of the tests that failed, sorted; none where the runner is not known or names none.

    Times, counters and messages are no part of a name: it is the same in two runs.
    """
    names = {" ".join(next(filter(None, found.groups())).split()) for found in _FAILED.finditer(output)}
    return sorted(name[:MAX_NAME_CHARS] for name in names)[:MAX_NAMES]


class _Runner(NamedTuple):
    words: tuple[str, ...]
    """Of a command line that ends with them, but for options and paths."""
    by_folder: bool = False
    """Whether it takes folders in place of files."""


_RUNNERS = [
    *(_Runner((name,)) for name in ("pytest", "py.test", "jest", "mocha", "rspec", "phpunit")),
    _Runner(("-m", "unittest")),
    _Runner(("vitest", "run")),
    _Runner(("node", "--test")),
    _Runner(("go", "test"), by_folder=True),
]
_STARTS = re.compile(
    r"(?:\w+=\S* )*(?:(?:(?:uv|poetry|pdm|hatch|pipenv|rye|bundle) (?:run|exec)|npx|pnpm exec|yarn|env) ?)?"
    r"(?:(?:\S*python[\d.]*|coverage run)(?: -[A-Za-z])*(?: -m)? ?)?"
)
"""What may stand before a runner. Of a build tool, such as `make pytest`, nobody knows what it does with a path."""
_TAKES_PATH = re.compile(
    r"-[cCfIrw]|--(?:bootstrap|config(?:-file)?|confcutdir|cov|ignore|import|require|root(?:dir)?)"
)


def limit_command(command: str, paths: Sequence[str], is_path: Callable[[str], bool]) -> str:
    """Return the command line with these test files in place of its own paths; empty if it may not take any.

    Args:
        command: As the user types it. One of several commands, or one of a build tool, is not taken apart.
        paths: Relative to the folder of the command.
        is_path: Whether a word is a file or a folder of the commit.
    """
    if not paths or re.search(r"[\n;&|<>`$(){}\[*?#~\\]", command):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    for runner in _RUNNERS:
        for end in range(len(runner.words), len(words) + 1):
            if _ends_with(words[:end], runner.words) and _STARTS.fullmatch(" ".join(words[: end - len(runner.words)])):
                options = _drop_paths(words[end:], is_path)
                places = sorted({f"./{path.rpartition('/')[0]}" for path in paths}) if runner.by_folder else paths
                return shlex.join([*words[:end], *options, *places])
    return ""


def _ends_with(words: Sequence[str], names: Sequence[str]) -> bool:
    *before, last = words[-len(names) :]
    return (*before, last.rpartition("/")[2]) == tuple(names)


def _drop_paths(words: Sequence[str], is_path: Callable[[str], bool]) -> list[str]:
    if "discover" in words:  # of unittest, with its own options
        return []
    previous = ["", *words]
    return [
        word
        for before, word in zip(previous, words, strict=False)
        if _TAKES_PATH.fullmatch(before) or not (word.endswith("...") or is_path(word.partition("::")[0]))
    ]
