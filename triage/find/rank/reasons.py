"""Explains why a file ranked, in words that its maintainer understands."""

from collections.abc import Iterator, Sequence

from triage.domain.code import RankReason
from triage.find.rank.query import Query
from triage.find.rank.ranking import Ranking
from triage.find.rank.search import Search
from triage.find.words.corpus import Corpus, DefinitionLocation

_MAX_NAMES = 2
_MIN_DEFINITION_SCORE = 0.04
"""A definition in more files is no reason."""
_MIN_PATHS = 3
"""In a smaller repository a word of most paths need not be the project's name."""
_MAX_NAME_PARTS = 2
"""Last parts of a qualified name; the location beside the reason has all of it."""


def explain_rank(ranking: Ranking, file: int) -> list[RankReason]:
    """Return the reasons for a file, what says most first; none if it only shares words with the issue."""
    search = ranking.search
    return [
        *_explain_run(search, file),
        *_explain_frames(search, file),
        *_explain_path(search, file),
        *_explain_definitions(search, file),
    ]


def is_project_name(corpus: Corpus, term: str) -> bool:
    """Return whether a term is the project's own name."""
    # The top package's name is in most paths.
    in_paths = len(corpus.by_path.find_documents(corpus.vocabulary.find_number(term)))
    return in_paths >= _MIN_PATHS and in_paths > corpus.by_path.size / 2


def _explain_run(search: Search, file: int) -> Iterator[RankReason]:
    executed, corpus = search.executed, search.corpus
    path = corpus.files[file].path
    if executed is None:
        return
    if executed.place and executed.place.path == path:
        yield RankReason(text=f"the example fails here (line {executed.place.line})")
    functions = [one for one in executed.functions if one.path == path]
    found = (corpus.find_enclosing(file, one.line) for one in functions if one.line)
    names = list(dict.fromkeys(one.name for one in found if one))[:_MAX_NAMES]
    if functions:
        text = f"the example calls {_quote(names)}" if names else "the example executes it"
        yield RankReason(text=text, symbol=next(iter(names), ""))


def _explain_frames(search: Search, file: int) -> Iterator[RankReason]:
    frames = search.mentions.frames
    frame = frames.get(file)
    if frame is None:
        return
    has_moved = frame.line is not None and search.find_frame_place(file, frame).line != frame.line
    line = f" (line {frame.line}{' in the reporter’s version' if has_moved else ''})" if frame.line else ""
    if not frame.calls_before_error:
        yield RankReason(text=f"innermost frame of the stack trace{line}")
    elif frame.depth == max(other.depth for other in frames.values()):
        yield RankReason(text=f"innermost frame of the stack trace inside this repository{line}")
    else:
        distance = f"{frame.calls_before_error} {'call' if frame.calls_before_error == 1 else 'calls'}"
        yield RankReason(text=f"frame of the stack trace, {distance} before the error{line}")


def _explain_path(search: Search, file: int) -> Iterator[RankReason]:
    mentions = search.mentions
    if file not in mentions.frame_scores and file in mentions.path_scores:
        yield RankReason(text="path named in the issue")
    stem = search.corpus.files[file].stem
    if file in mentions.stem_scores and stem in {word.lower() for word in search.query.title_words}:
        yield RankReason(text="file name stands in the title")


def _explain_definitions(search: Search, file: int) -> Iterator[RankReason]:
    best: dict[str, tuple[float, DefinitionLocation]] = {}
    for score, location in search.mentions.definitions.get(file, []):
        name = location.name.rpartition(".")[2]
        is_better = score >= _MIN_DEFINITION_SCORE and score > best.get(name, (0.0, location))[0]
        if is_better and _is_code_name(search.query, name):
            best[name] = (score, location)
    strongest = sorted(best.items(), key=lambda one: -one[1][0])[:_MAX_NAMES]
    title = search.query.title_words
    for place, is_in_title in (("the title", True), ("the issue", False)):
        named = [location.name for name, (_, location) in strongest if (name in title) is is_in_title]
        if named:
            yield RankReason(text=f"defines {_quote(named)}, named in {place}", symbol=named[0])


def _is_code_name(query: Query, name: str) -> bool:
    """Return whether the issue means the name in the code, and not an everyday word with the same spelling."""
    if "_" in name.strip("_") or not (name.islower() or name[1:].islower()):
        return True
    return name in query.code_words or (name in query.title_words and not name.islower())


def _quote(symbols: Sequence[str]) -> str:
    shortened = (".".join(symbol.split(".")[-_MAX_NAME_PARTS:]) for symbol in symbols)
    return " and ".join(dict.fromkeys(f"`{name}`" for name in shortened))
