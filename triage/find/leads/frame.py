"""Frame: the innermost call that lies in this repository, of a stack trace or of a run of the report's example."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from triage.domain.issue import Frame, ParsedIssue, Trace
from triage.find.leads.lead import Lead
from triage.find.rank.mentions import resolve_frame
from triage.find.rank.query import PathMention, list_frames
from triage.find.rank.search import Search
from triage.find.words.tokens import find_words

_BUNDLE = re.compile(r"(?:^|[/\\])(?:dist|build|bundles?|umd|cjs|esm|static)[/\\]|\.min\.|\bbundle\b|\bchunk|webpack")
_MAKES_ERROR = re.compile(
    r"(?i)(?:wrap|new|make|create|build|raise|throw|report)_?(?:\w{0,20}_?)?(?:error|err|exception)s?"
    r"|(?:throw|raise|panic|fatal|invariant|assert\w{0,20}|abort|error|unreachable|__getattr__)"
)
"""A function by its name: `WrapError`, `invariant`."""
_SHAPED = re.compile(r"[a-z0-9][A-Z]|\w[_-]\w")
"""A name that no other program has by chance."""


def find_frame_leads(search: Search, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the innermost frame of each trace in this repository; of a wrapper only if no cause has one.

    Frames of different traces never mix. A dump of many threads has traces without an error beside the one that fails.
    """
    failed = [trace for trace in parsed.traces if trace.exception or trace.message] or parsed.traces
    for is_wrapper in (False, True):
        found = [_find_innermost(search, trace) for trace in failed if trace.is_wrapper is is_wrapper]
        yield from (leads := [lead for lead in found if lead])
        if leads:
            return


def _find_innermost(search: Search, trace: Trace) -> Lead | None:
    """Return the lead to the frame in which the product fails; None if none, or if it may be in several files."""
    files = search.corpus.files
    resolved = _resolve_frames(search, trace)
    in_product = [
        (frame, product)
        for frame, here in resolved
        if (product := [file for file in here if files[file].role.is_product_code])
    ]
    elsewhere = [
        (frame, here)
        for frame, here in resolved
        if not files[here[0]].role.is_test or search.find_frame_place(here[0], frame).is_sure
    ]
    ours = in_product or elsewhere
    is_none = (trace.message or "").startswith("'NoneType'")  # which looks nothing up in code of ours
    if trace.exception in (None, "AttributeError") and not is_none:  # a missing name, however deep it was looked up
        lookups = [place for place, (frame, _) in enumerate(ours) if frame.function == "__getattr__"]
        ours = ours[max(lookups, default=0) :]
    # Where an error is made or wrapped is not where it fails.
    maker = ""
    while len(ours) > 1 and (name := _find_error_maker(search, *ours[0])):
        maker, ours = maker or name, ours[1:]
    # That a trace ends in one of several files is no fact.
    if not ours or len(ours[0][1]) > 1:
        return None
    frame, (file,) = ours[0]
    inner = [one.function for one in list_frames(trace) if one.depth > frame.depth and one.path == frame.path]
    if not frame.line and not {"", "??", "<unknown>"}.isdisjoint(inner):  # a static function of the same module
        return None
    error = ": ".join(part for part in (trace.exception, trace.message) if part)
    lead = _make_lead(search, frame, file)
    return replace(lead, text=error, error_maker=maker, calls_before_error=frame.calls_before_error)


def _find_error_maker(search: Search, frame: PathMention, files: Sequence[int]) -> str:
    """Return the name of a frame's function if it makes errors, else nothing."""
    name = Frame(path="", function=frame.function).name or search.find_frame_place(files[0], frame).symbol or ""
    return name if _MAKES_ERROR.fullmatch(name.rpartition(".")[2]) else ""


def _resolve_frames(search: Search, trace: Trace) -> list[tuple[PathMention, list[int]]]:
    """Return the frames that may lie in this repository, innermost first, each with its files."""
    resolved = []
    for frame in list_frames(trace):
        if other := _find_by_function(search, frame):
            resolved.append((replace(frame, line=None), other))
        elif here := resolve_frame(search.corpus, search.file_lines, frame):
            resolved.append((frame, here))
    return resolved


def _find_by_function(search: Search, frame: PathMention) -> list[int]:
    """Return the file of product code that alone defines the function of a frame in a bundle, or without a source.

    Of a qualified name, the file has to be in the function's module: other crates have functions of the same name.
    """
    corpus, name = search.corpus, Frame(path="", function=frame.function).name
    if ("." in frame.path and not _BUNDLE.search(frame.path)) or not _SHAPED.search(name):
        return []
    files = {one.file for one in corpus.definitions.get(name, ()) if corpus.product_files[one.file]}
    if len(files) != 1:
        return []
    modules = [one for one in re.findall(r"(\w+)::", frame.function) if one.islower()]
    return [file for file in files if not modules or modules[-1] in find_words(corpus.files[file].path)]


def _make_lead(search: Search, frame: PathMention, file: int) -> Lead:
    place = search.find_frame_place(file, frame)
    span = (place.definition.start, place.definition.end) if place.definition else None
    return Lead(
        "frame",
        file,
        place.line,
        span=span,
        symbol=place.symbol,
        function=(frame.function or None) if place.is_here or not place.is_named else None,
        is_here=place.is_here,
    )


def find_executed_lead(search: Search) -> Iterator[Lead]:
    """Yield the line of product code that raised the example's error, if it was run and there is one."""
    executed, corpus = search.executed, search.corpus
    place = executed.place if executed else None
    file = corpus.file_numbers.get(place.path) if place else None
    if not executed or not place or not place.line or file is None or not corpus.files[file].role.is_product_code:
        return
    # It may have been run on another commit.
    around = corpus.find_enclosing(file, place.line)
    functions = [name for name in (place.function or "").split(".") if not name.startswith("<")]
    is_there = not functions or (around is not None and around.name.endswith(functions[-1]))
    if is_there and place.line <= len(search.file_lines(file)):
        yield Lead("executed", file, place.line, executed.error)
