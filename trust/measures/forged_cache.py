"""Whole runs on a `cache-dir` that somebody has forged: what of it reaches prompts, comment, labels and caps."""

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.runs.job import JobResult
from testing.runs.sample_bug import BASKET
from testing.servers.github_server import SLUG
from trust.markdown_judge import judge_page
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.report_builder import REDIRECTED

FILE = "shop/basket.py"
KEY_BYTES = 16
"""Of each row in a file of vectors: the hash of its text."""
EVIL = "[see](https://evil.example/a) https://evil.example/b @mona #1 <img src=https://evil.example/c> deploy"
LABELS = ["bug", "deploy"]
LINKS = [f"https://github.com/{SLUG}/", f"https://github.com/{SLUG}", "https://docs.example.com/", REDIRECTED]
INPUTS = {"labels": "apply", "embedding_model": "text-embedding-3-small", "tavily_api_key": "tvly-" + "z3" * 16}
MAX_TOKENS = 100_000
PRICES = "prices:\n  gpt-6.1-terra: {input: 2, output: 8}\n  gpt-6-luna: {input: 1, output: 4}\n"
"""Of the project: no library checks the counts that are multiplied by them."""


@dataclass(frozen=True)
class Case:
    name: str
    forge: Callable[[Path], None]
    """Changes the files of a cache that a run has left."""
    runs: int = 1
    """A forged reply changes the next prompt, whose reply is forged before the next run."""


def _forge_vectors(change: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> Callable[[Path], None]:
    def forge(cache: Path) -> None:
        (path,) = (cache / "vectors").glob("vectors-*.npy")
        table = np.load(path)
        keys, rows = table[:, :KEY_BYTES], table[:, KEY_BYTES:].copy().view("<f4")
        np.save(path, np.hstack([keys, change(rows).astype("<f4").view(np.uint8)]))

    return forge


def _forge_table(data: bytes) -> Callable[[Path], None]:
    def forge(cache: Path) -> None:
        (path,) = (cache / "vectors").glob("vectors-*.npy")
        path.write_bytes(data)

    return forge


def _claim_terabytes() -> bytes:
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 10000000), }"
    return b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117) + b"\n"


def _forge_replies(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def forge(cache: Path) -> None:
        for path in (cache / "runs").iterdir():
            path.write_text(json.dumps(change(json.loads(path.read_text()))), encoding="utf-8")

    return forge


def _forge_words(reply: dict[str, Any]) -> dict[str, Any]:
    with contextlib.suppress(ValueError, TypeError):
        return reply | {"content": json.dumps(_replace_words(json.loads(reply["content"])))}
    return reply | {"content": EVIL}


def _replace_words(tree: Any) -> Any:
    # Enumerations and paths stay, so that the answer fits its schema and cites what exists.
    if isinstance(tree, dict):
        return {key: LABELS if key == "labels" else _replace_words(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_replace_words(value) for value in tree]
    return EVIL if isinstance(tree, str) and " " in tree else tree


CASES = [
    Case("vectors that are no numbers", _forge_vectors(lambda rows: rows * np.nan)),
    Case("infinite vectors", _forge_vectors(lambda rows: rows * np.inf)),
    Case("huge vectors", _forge_vectors(lambda rows: rows * np.float32(1e38))),
    Case("vectors of another length", _forge_vectors(lambda rows: np.hstack([rows, rows]))),
    Case("a file that claims terabytes", _forge_table(_claim_terabytes())),
    Case("a file with programs", _forge_table(b"\x80\x04cos\nsystem\n(S'false'\ntR.")),
    Case("words of replies", _forge_replies(_forge_words), runs=6),
    Case("negative counts", _forge_replies(lambda reply: reply | {"input_tokens": -(10**8)})),
    Case("counts that are no numbers", _forge_replies(lambda reply: reply | {"output_tokens": float("nan")})),
    Case("a model without a price", _forge_replies(lambda reply: reply | {"model": EVIL})),
    Case("nested replies", _forge_replies(lambda reply: reply | {"tools": _nest(900)})),
    Case("replies of another kind", _forge_replies(lambda _: [EVIL])),
]


WITHOUT_DEFENCE: dict[str, tuple[str, Callable[..., Any]]] = {
    "words of replies": ("triage.jobs.triage_issue.select_allowed_labels", lambda _, labels: labels),
}
"""By case, a function of the program and what stands in for it."""


def _nest(depth: int) -> list[Any]:
    return functools.reduce(lambda inner, _: [inner], range(depth), [])


def run(share: float) -> MeasureResult:
    chosen = sample_evenly(CASES, share)
    failures = [f"{case.name}: {problem}" for case in chosen for problem in _find_problems(case)]
    return MeasureResult(len(chosen), failures)


def _find_problems(case: Case) -> Iterator[str]:
    with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
        job.github.labels = LABELS
        (job.job.workspace / ".github").mkdir()
        (job.job.workspace / ".github" / "triage.yml").write_text(PRICES, encoding="utf-8")
        job.job.commit()
        cache = job.job.workspace / ".cache"
        job.run(cache_dir=".cache", **INPUTS)

        for _ in range(case.runs):
            case.forge(cache)
            job.github.comments.clear()
            job.github.added_labels.clear()
            (job.job.folder / "temp" / "summary").write_text("", encoding="utf-8")
            done = job.run(cache_dir=".cache", **INPUTS)
        yield from _judge(job, done)


def _judge(job: InProcessJob, done: JobResult) -> Iterator[str]:
    if done.exit_code or "Internal error" in done.log or "Traceback (most" in done.log:
        yield f"exit code {done.exit_code}: {done.log[-200:]}"
    if len(job.github.comments) != 1:
        yield f"{len(job.github.comments)} comments"
    for name, page in {"comment": job.comment, "summary": done.summary}.items():
        yield from (f"live in the {name}: {one}" for one in judge_page(page, LINKS, picture=True).live_effects)
    if job.github.added_labels not in ([], ["bug"]):
        yield f"labels {job.github.added_labels}"
    yield from _judge_citations(job.report)
    for part in ("usage", "reused"):
        counts = {key: value for key, value in job.report[part].items() if value is not None}
        if not all(0 <= value <= MAX_TOKENS for value in counts.values()) or job.report[part]["usd"] is None:
            yield f"{part} of {counts}"


def _judge_citations(report: Mapping[str, Any]) -> Iterator[str]:
    for suspect in report["suspects"]:
        if suspect["path"] != FILE or EVIL in (suspect["symbol"] or ""):
            yield f"a suspect that the commit lacks: {suspect['path']}"
        if suspect["span"] and suspect["span"]["end"] > len(BASKET.splitlines()):
            yield f"lines that the commit lacks: {suspect['span']}"


def run_without_defence() -> MeasureResult:
    """Returns no failure unless there is one in each case."""
    found: list[list[str]] = []
    for name, (function, replacement) in WITHOUT_DEFENCE.items():
        case = next(case for case in CASES if case.name == name)
        with patch(function, replacement):
            found.append([f"{name}: {problem}" for problem in _find_problems(case)])
    return MeasureResult(len(found), [failure for one in found for failure in one] if all(found) else [])


MEASURE = Measure(
    "A forged cache",
    "0",
    "Somebody has forged the vectors or replies of a `cache-dir`. A failure is a path that the commit lacks, a foreign "
    "link, a forbidden label, a lifted cap, or a run that ends.",
    run,
    run_without_defence,
)
