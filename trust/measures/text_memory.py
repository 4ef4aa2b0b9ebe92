"""Whole runs on issues with hundreds of hostile comments, and one process that reads text after text."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cmarkgfm.cmark import markdown_to_html_with_extensions

from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.job import Job
from testing.servers.github_api import JOB_TOKEN, LOGINS, GitHubApi, serve_github_api
from testing.text.pathological_text import PATHOLOGICAL_TEXTS, SIZE
from triage.domain.issue import Issue, IssueComment
from triage.read.read_issue import read_issue_and_thread
from triage.read.reporter_language import pair_questions_with_answers
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.process_memory import read_megabytes, wait_and_measure_peak

COMMENTS = 300
MANY = 3_000
MAX_MEGABYTES = 400
"""Of a whole run. One without comments has 160."""
MAX_GROWTH_MEGABYTES = 60
"""Of one process. Its first texts load a model for languages and fill caches."""
LEAKING_CALLS = 15
REPORTER = "mona"


@dataclass(frozen=True)
class Flood:
    text: str
    """Name of a text."""
    writer: str = "mallory-{number}"
    count: int = COMMENTS
    chars: int = SIZE - 10

    @property
    def name(self) -> str:
        return f"{self.count:,} comments by {self.writer}: {self.text}"


def _write_table(size: int) -> str:
    return ("a|b\n-|-\n" + "a|b\n" * size)[:size]


TEXTS = {
    **PATHOLOGICAL_TEXTS,
    "a long table": _write_table,
    "control characters": "\x1b".__mul__,  # six bytes each in JSON
    "emoji": "😀".__mul__,
}
_FLOODING = (
    "a long table", "tables", "short rows", "lists inside each other", "stars ever more", "emphasis begun",
    "links begun", "brackets", "headings alone", "bolds", "formatting left open", "folds", "different words",
)  # fmt: skip
FLOODS = [
    *map(Flood, _FLOODING),
    Flood("a long table", REPORTER),
    Flood("commands", REPORTER),
    Flood("control characters"),
    Flood("emoji"),
    Flood("a long table", count=MANY, chars=4_000),
]


def run(share: float) -> MeasureResult:
    texts = sample_evenly(list(TEXTS), share)
    # First: what the servers of the runs give back would hide what stays.
    growth = _measure_growth([TEXTS[name](SIZE) for name in texts])
    runs = {flood.name: _run_flooded(flood) for flood in sample_evenly(FLOODS, share)}
    failures = [f"{name}: {problem}" for name, (_, problem) in runs.items() if problem]
    highest = max(peak for peak, _ in runs.values())
    measured = f"{highest:.0f} MB at most, {max(0.0, growth):.0f} MB more after {len(texts)} texts"
    return MeasureResult(len(runs) + len(texts), [*failures, *_list_growth(growth, "all texts")], measured)


def _run_flooded(flood: Flood) -> tuple[float, str]:
    """Returns the memory of a run in megabytes, and what is wrong with it."""
    with TemporaryDirectory() as folder, serve_github_api() as api:
        _write_thread(api, flood)
        job = Job(Path(folder) / "job", api)
        job.inputs |= {"github-token": JOB_TOKEN, "timeout-seconds": "60"}
        sample_bug.commit_plain_checkout(job.workspace)
        running = job.start_here()
        peak = wait_and_measure_peak(running)
        return peak, _find_problem(peak, job.wait(running), api)


def _write_thread(api: GitHubApi, flood: Flood) -> None:
    api.add_issue(7, title=sample_bug.TITLE, body=sample_bug.BODY)
    # Before the event: what was written after it is not read.
    at = "2026-11-20T09:00:00Z"
    text = TEXTS[flood.text](flood.chars)
    for number in range(flood.count):
        writer = flood.writer.format(number=number)
        api.add_comment(f"{text}\n{number}", writer, created_at=at, updated_at=at)


def _find_problem(peak: float, done: JobResult, api: GitHubApi) -> str:
    ours = sum(comment["user"]["login"] == LOGINS[JOB_TOKEN] for comment in api.comments)
    if done.exit_code or ours != 1 or done.outputs.get("status") != "complete":
        return f"exit code {done.exit_code}, status {done.outputs.get('status')}, {ours} comments of ours"
    return f"{peak:.0f} MB" if peak > MAX_MEGABYTES else ""


def _measure_growth(texts: list[str]) -> float:
    """Returns by how many megabytes this process has grown after reading issues with these texts everywhere."""
    _read("words " * 1_000)
    before = read_megabytes("VmRSS")
    for text in texts:
        _read(text)
    return read_megabytes("VmRSS") - before


def _read(text: str) -> None:
    ours = IssueComment(author=LOGINS[JOB_TOKEN], body="words", by_bot=True, ours=True)
    thread = [ours, *(IssueComment(author=author, body=text) for author in (REPORTER, "mallory", "eve"))]
    issue = Issue(title=text[:256], body=text, author=REPORTER, thread=thread)
    read_issue_and_thread(issue)
    pair_questions_with_answers(issue, [], "Which version?")


def _list_growth(megabytes: float, what: str) -> list[str]:
    return [f"{what}: {megabytes:.0f} MB more"] if megabytes > MAX_GROWTH_MEGABYTES else []


def run_without_defence() -> MeasureResult:
    """The parser as its package calls it."""
    text = TEXTS["a long table"](SIZE)
    before = read_megabytes("VmRSS")
    for _ in range(LEAKING_CALLS):
        markdown_to_html_with_extensions(text, extensions=["table"])
    return MeasureResult(LEAKING_CALLS, _list_growth(read_megabytes("VmRSS") - before, "a parser that leaks"))


MEASURE = Measure(
    "Memory under hostile texts",
    f"at most {MAX_MEGABYTES} MB",
    f"An issue with {COMMENTS} comments of 64 KiB, or {MANY:,} smaller ones; and hostile texts one after the other: "
    f"more memory, no report, or a process that keeps {MAX_GROWTH_MEGABYTES} MB.",
    run,
    run_without_defence,
)
