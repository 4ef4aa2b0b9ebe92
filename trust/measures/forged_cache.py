"""Whole runs on a `cache-dir` that somebody has forged: what of it reaches prompts, comment, labels and caps."""

import contextlib
import functools
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from testing.runs import external_services
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.runs.job import JobResult
from testing.runs.sample_bug import BASKET
from testing.servers.github_server import SLUG
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion
from triage.code.indexing.array_file import Array, read_arrays, write_arrays
from triage.code.indexing.index_cache import ARRAY_NAMES
from triage.code.words.corpus import compress_text
from trust.markdown_judge import judge_page
from trust.measure import Measure, MeasureResult, sample_evenly

FILE = "shop/basket.py"
INVENTED = "password = load_password_of_evil()"
"""A line that is in no file of the commit."""
EVIL = "[see](https://evil.example/a) https://evil.example/b @mona #1 <img src=https://evil.example/c> deploy"
LABELS = ["bug", "deploy"]
LINKS = [f"https://github.com/{SLUG}/", f"https://github.com/{SLUG}", "https://docs.example.com/"]
INPUTS = {"labels": "apply", "embedding_model": "text-embedding-3-small", "tavily_api_key": "tvly-" + "z3" * 16}
MAX_TOKENS = 100_000
PRICES = "prices:\n  gpt-6.1-terra: {input: 2, output: 8}\n  gpt-6-luna: {input: 1, output: 4}\n"
"""Of the project: no library checks the counts that are multiplied by them."""

Index = dict[str, Any]
"""What a file of the index holds: arrays, and the lists in the first of them, by name."""


@dataclass(frozen=True)
class Case:
    name: str
    forge: Callable[[Path], None]
    """Changes the files of a cache that a run has left."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """What the model answers instead, by schema: it believes the cache."""
    runs: int = 1
    """A forged reply changes the next prompt, whose reply is forged before the next run."""


def _forge_index(change: Callable[[Index], None]) -> Callable[[Path], None]:
    def forge(cache: Path) -> None:
        shutil.rmtree(cache / "runs")  # or the replies to the true index are used again
        (path,) = (cache / "index").glob("index-*.npy")
        with path.open("rb") as file:
            arrays = dict(zip(ARRAY_NAMES, read_arrays(file), strict=True))
        lists = json.loads(arrays["lists"].tobytes())
        index = {**arrays, **lists}
        change(index)
        arrays = {name: index[name] for name in ARRAY_NAMES}
        arrays["lists"] = np.frombuffer(json.dumps({name: index[name] for name in lists}).encode(), dtype="|u1")
        with path.open("wb") as file:
            write_arrays(file, arrays.values())

    return forge


def _set_text(index: Index, data: bytes) -> None:
    sizes, texts = index["text sizes"].tolist(), index["texts"].tobytes()
    number = index["paths"].index(FILE)
    start = sum(sizes[:number])
    whole = texts[:start] + data + texts[start + sizes[number] :]
    sizes[number] = len(data)
    index["texts"], index["text sizes"] = np.frombuffer(whole, dtype="|u1"), np.array(sizes, dtype="<i4")


def _invent_text(index: Index) -> None:
    lines = BASKET.splitlines()
    _set_text(index, compress_text("\n".join([*lines[:4], f"    {INVENTED}", f"    {INVENTED}", ""])))


def _invent_path(index: Index) -> None:
    _invent_text(index)
    index["paths"] = ["shop/evil.py" if path == FILE else path for path in index["paths"]]


def _invent_blob(index: Index) -> None:
    index["blob_ids"] = ["0" * 40 for _ in index["blob_ids"]]
    _invent_text(index)


def _invent_names(index: Index) -> None:
    index["names"] = [f"{EVIL} {number}" for number in range(len(index["names"]))]


def _invent_terms(index: Index) -> None:
    index["terms"] = [f"{EVIL} {number}" for number in range(len(index["terms"]))]


def _move_definitions(index: Index) -> None:
    for name in ("definitions", "chunks"):
        index[name] = index[name].copy()
        index[name][1:3] = 900_000


def _unpack_to_much(index: Index) -> None:
    _set_text(index, compress_text(INVENTED * 10_000_000))


def _nest_lists(cache: Path) -> None:
    (path,) = (cache / "index").glob("index-*.npy")
    with path.open("rb") as file:
        arrays = read_arrays(file)
    arrays[0] = np.frombuffer(b"[" * 100_000, dtype="|u1")
    with path.open("wb") as file:
        write_arrays(file, arrays)


def _forge_vectors(change: Callable[[Array], Array]) -> Callable[[Path], None]:
    def forge(cache: Path) -> None:
        (path,) = (cache / "index").glob("vectors-*.npy")
        with path.open("rb") as file:
            keys, rows = read_arrays(file)
        with path.open("wb") as file:
            write_arrays(file, [keys, change(rows).astype("<f4")])

    return forge


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


CITES_INVENTED = {
    name: answer.model_dump_json().replace(BASKET.splitlines()[-1].strip(), INVENTED)
    for name, answer in external_services.MODEL_ANSWERS.items()
}
CASES = [
    Case("a text that is not the blob", _forge_index(_invent_text), CITES_INVENTED),
    Case("a path that the commit lacks", _forge_index(_invent_path), CITES_INVENTED),
    Case("a blob that the commit lacks", _forge_index(_invent_blob), CITES_INVENTED),
    Case("names of definitions", _forge_index(_invent_names)),
    Case("terms", _forge_index(_invent_terms)),
    Case("definitions beyond the file", _forge_index(_move_definitions)),
    Case("a text that unpacks to 340 MB", _forge_index(_unpack_to_much), CITES_INVENTED),
    Case("nested lists", _nest_lists),
    Case("vectors that are no numbers", _forge_vectors(lambda rows: rows * np.nan)),
    Case("infinite vectors", _forge_vectors(lambda rows: rows * np.inf)),
    Case("huge vectors", _forge_vectors(lambda rows: rows * np.float32(1e38))),
    Case("vectors of another length", _forge_vectors(lambda rows: np.hstack([rows, rows]))),
    Case("words of replies", _forge_replies(_forge_words), runs=6),
    Case("negative counts", _forge_replies(lambda reply: reply | {"input_tokens": -(10**8)})),
    Case("counts that are no numbers", _forge_replies(lambda reply: reply | {"output_tokens": float("nan")})),
    Case("a model without a price", _forge_replies(lambda reply: reply | {"model": EVIL})),
    Case("nested replies", _forge_replies(lambda reply: reply | {"tools": _nest(900)})),
    Case("replies of another kind", _forge_replies(lambda _: [EVIL])),
]


WITHOUT_DEFENCE: dict[str, tuple[str, Callable[..., Any]]] = {
    "a text that is not the blob": ("triage.code.words.corpus._is_verified", lambda *_: True),
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
    prompts: list[str] = []
    with TemporaryDirectory() as folder, set_up_job(Path(folder) / "job") as job:
        job.github.labels = LABELS
        (job.job.workspace / ".github").mkdir()
        (job.job.workspace / ".github" / "triage.yml").write_text(PRICES, encoding="utf-8")
        job.job.commit()
        cache = job.job.workspace / ".cache"
        job.run(cache_dir=".cache", **INPUTS)

        def answer(request: ReceivedRequest) -> ScriptedReply | None:
            schema = request.body.get("response_format", {}).get("json_schema", {}).get("name", "")
            if schema == "CodebaseFinding" or "search_code" in json.dumps(request.body.get("tools")):
                prompts.append(json.dumps(request.body["messages"]))
            return chat_completion(case.answers[schema]) if schema in case.answers else None

        job.model = answer
        for _ in range(case.runs):
            case.forge(cache)
            job.github.comments.clear()
            job.github.added_labels.clear()
            (job.job.folder / "temp" / "summary").write_text("", encoding="utf-8")
            done = job.run(cache_dir=".cache", **INPUTS)
        yield from _judge(job, done)
    if any(INVENTED in prompt for prompt in prompts):
        yield "a model was shown a line that is in no file"


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
    for item in report["evidence"]:
        if item["verified"] and INVENTED in (item["quote"] or ""):
            yield "a quote that is in no file was verified"
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
    "A run on a `cache-dir` in which somebody has forged the index, the vectors or the replies of models. A failure is "
    "a line, a quote or a path that the commit lacks, a foreign link, a label that the settings forbid, a lifted cap, "
    "or a run that ends.",
    run,
    run_without_defence,
)
