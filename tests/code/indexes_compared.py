"""What can be asked of an index, to compare two of them."""

from tests.code.indexes import make_query, make_trace
from triage.code.codebase import GitCodebase
from triage.domain.code import Hit, SearchQuery

QUERIES: list[SearchQuery] = [
    make_query(
        title="parse_date fails in a leap year", code="ValueError: not a date", paths=["src/calendar_tool/dates.py"]
    ),
    make_query(title="flush waits for ever", prose="`JobQueue.flush` never ends when a job has a timeout."),
    make_query(title="Renderer.paint draws nothing", traces=[make_trace(("src/calendar_tool/queue.py", 7, "flush"))]),
    make_query(title="how are dates read?"),
    make_query(title="nothing of this project: zebra"),
]


def collect_answers(codebase: GitCodebase) -> tuple[list[list[Hit]], dict[str, list[str] | None], list[str]]:
    hits = [codebase.search(query, 20) for query in QUERIES]
    symbols = sorted(str(codebase.find_definitions(name)) for name in ("flush", "DateParser.parse_date", "paint"))
    return hits, {path: codebase.read_lines(path) for path in codebase.list_paths()}, symbols
