"""Explains why a file ranked, in words that its maintainer understands."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from triage.base.text import word_set
from triage.find.rank.query import Query
from triage.find.rank.query_scores import QueryScores
from triage.find.rank.ranking import Ranking
from triage.find.rank.snippets import code_lines
from triage.find.words.bm25 import BM25
from triage.find.words.corpus import Corpus, DefinitionLocation
from triage.find.words.tokens import STOP_WORDS, find_terms, find_words

MAX_REASONS = 5
_MAX_WORDS = 3
_MAX_NAMES = 2
_MIN_DEFINITION_SCORE = 0.04
"""A definition in more files is no reason."""
_MIN_CHARS = 3
_COMMON_SHARE, _COMMON_FILES = 0.2, 5
"""A word in more files than both, share and number, is not distinctive."""
_MIN_PATHS = 3
"""In a smaller repository a word of most paths need not be the project's name."""
_MAX_TERMS = 50
"""Used for one reason; an issue with a log has a thousand."""
_MAX_NAME_PARTS = 2
"""Last parts of a qualified name; the location beside the reason has all of it."""
_QUOTED = re.compile(r"`([^`]+)`")
_KEYWORDS = word_set(
    """
    __init__ abstract and assert async await begin bool boolean break byte case catch char class const continue
    crate def default defer del delete double dyn elif else elseif elsif end ensure enum esac except export extends
    extern false final finally float for foreach func function global goto if impl implements import inline
    instanceof int integer interface internal lambda let long loop mod mut namespace new nil none nonlocal not null
    object override package pass private protected pub public raise readonly require rescue return returns self
    short sizeof static str string struct super switch template then this throw throws trait true try typedef typeof
    undefined union unless unsafe unsigned until use using val var virtual void volatile where while with yield
    """
)
"""Words of programming languages, which any snippet contains."""
_BUG_REPORT_WORDS = word_set(
    """
    actual already always another anything appears behavior behaviour bug called cannot case causes correct
    correctly current currently description detail details different does doesn don done environment even every
    everything example expected fail failed failing fails feature first fix fixed following found get gets getting
    give gives got gracefully happens hello help however instead issue issues keep leads like looks made make makes
    many may maybe might more must need needed needs never now only other others ought please possible prevent
    previously probably problem properly provide really reproduce result results same say says see seem seems should
    show shows similar simple since someone something still such sure take takes thanks thing things think though
    throws trying two unable unexpected unfortunately use used uses using want wants way well within without wont
    work working works would wrong yes
    """
)
"""Words of any bug report."""
_IGNORED_WORDS = _KEYWORDS | _BUG_REPORT_WORDS | STOP_WORDS


def explain_rank(ranking: Ranking, file: int, chunks: Sequence[int], near: str = "") -> list[str]:
    """Return at most five reasons for a file, in words without a full stop, what says most first.

    `chunks` are those that are shown, best first, and `near` is what an embedding model says of the file. May quote
    names of the repository and words of the issue, in backticks.
    """
    query_scores = ranking.query_scores
    found = [
        *_explain_run(query_scores, file),
        *_explain_frames(query_scores, file),
        *_explain_path(query_scores, file),
        *_explain_definitions(query_scores, file),
    ]
    named = {part.lower() for reason in found for name in _QUOTED.findall(reason) for part in find_words(name)}
    found += [*_explain_words(query_scores, chunks, named), *([near] if near else [])]
    return found[:MAX_REASONS] or ["shares words with the issue"]


def is_distinctive(corpus: Corpus, term: str) -> bool:
    """Return whether a word is rare enough: no keyword, not the project's name, and in few files."""
    if len(term) < _MIN_CHARS or term in _IGNORED_WORDS or is_project_name(corpus, term):
        return False
    return _count_documents(corpus, corpus.by_file, term) <= max(_COMMON_FILES, _COMMON_SHARE * corpus.by_file.size)


def is_project_name(corpus: Corpus, term: str) -> bool:
    """Return whether a term is the project's own name."""
    # The top package's name is in most paths.
    in_paths = _count_documents(corpus, corpus.by_path, term)
    return in_paths >= _MIN_PATHS and in_paths > corpus.by_path.size / 2


def _count_documents(corpus: Corpus, table: BM25, term: str) -> int:
    return len(table.find_documents(corpus.vocabulary.find_number(term)))


def _explain_run(query_scores: QueryScores, file: int) -> Iterator[str]:
    executed, corpus = query_scores.executed, query_scores.corpus
    path = corpus.files[file].path
    if executed is None:
        return
    if executed.place and executed.place.path == path:
        yield f"the example fails here (line {executed.place.line})"
    functions = [one for one in executed.functions if one.path == path]
    found = (corpus.find_enclosing(file, one.line) for one in functions if one.line)
    names = list(dict.fromkeys(f"`{_shorten_name(one.name)}`" for one in found if one))[:_MAX_NAMES]
    if functions:
        yield f"the example calls {' and '.join(names)}" if names else "the example executes it"


def _explain_frames(query_scores: QueryScores, file: int) -> Iterator[str]:
    frames = query_scores.mentions.frames
    frame = frames.get(file)
    if frame is None:
        return
    has_moved = frame.line is not None and query_scores.find_frame_place(file, frame).line != frame.line
    line = f" (line {frame.line}{' in the reporter’s version' if has_moved else ''})" if frame.line else ""
    if not frame.calls_before_error:
        yield f"innermost frame of the stack trace{line}"
    elif frame.depth == max(other.depth for other in frames.values()):
        yield f"innermost frame of the stack trace inside this repository{line}"
    else:
        distance = f"{frame.calls_before_error} {'call' if frame.calls_before_error == 1 else 'calls'}"
        yield f"frame of the stack trace, {distance} before the error{line}"


def _explain_path(query_scores: QueryScores, file: int) -> Iterator[str]:
    mentions = query_scores.mentions
    if file not in mentions.frame_scores and file in mentions.path_scores:
        yield "path named in the issue"
    stem = query_scores.corpus.files[file].stem
    if file in mentions.stem_scores and stem in {word.lower() for word in query_scores.query.title_words}:
        yield "file name stands in the title"


def _explain_definitions(query_scores: QueryScores, file: int) -> Iterator[str]:
    best: dict[str, tuple[float, DefinitionLocation]] = {}
    for score, location in query_scores.mentions.definitions.get(file, []):
        name = location.name.rpartition(".")[2]
        is_better = score >= _MIN_DEFINITION_SCORE and score > best.get(name, (0.0, location))[0]
        if is_better and _is_code_name(query_scores, name):
            best[name] = (score, location)
    strongest = sorted(best.items(), key=lambda one: -one[1][0])[:_MAX_NAMES]
    title = query_scores.query.title_words
    for place, is_in_title in (("the title", True), ("the issue", False)):
        named = [location.name for name, (_, location) in strongest if (name in title) is is_in_title]
        if named:
            quoted = " and ".join(dict.fromkeys(f"`{_shorten_name(name)}`" for name in named))
            yield f"defines {quoted}, named in {place}"


def _is_code_name(query_scores: QueryScores, name: str) -> bool:
    """Return whether the issue means the name in the code, and not an everyday word with the same spelling."""
    query = query_scores.query
    if "_" in name.strip("_") or not (name.islower() or name[1:].islower()):
        return True
    if name.islower():
        return name in query.code_words and is_distinctive(query_scores.corpus, name)
    is_marked = name in query.code_words or name in query.title_words
    return is_marked or is_distinctive(query_scores.corpus, name.lower())


def _explain_words(query_scores: QueryScores, chunks: Sequence[int], named: Collection[str]) -> Iterator[str]:
    """Return the words that the issue shares with the first chunk that has any, unless another reason names them."""
    corpus, query = query_scores.corpus, query_scores.query
    for chunk in chunks:
        own = _chunk_terms(query_scores, chunk)
        parts = corpus.by_chunk.explain_score(chunk, query_scores.term_weights)
        scores = {query_scores.terms[number]: part for number, part in parts.items()}
        distinctive = {term: score for term, score in scores.items() if term in own and is_distinctive(corpus, term)}
        if shared := _words_in_issue(query, distinctive):
            marked = [word for word in shared if word in query.title_words or word in query.code_words]
            new = [word for word in marked or shared if not any(word.lower() in name for name in named)]
            if new:
                quoted = ", ".join(f"`{word}`" for word in new[:_MAX_WORDS])
                yield f"matches {quoted} in {_format_location(corpus, chunk)}"
            return


def _chunk_terms(query_scores: QueryScores, chunk: int) -> set[str]:
    """Return the terms of a chunk's code and symbol. Terms of its comments count only if it has no code."""
    corpus = query_scores.corpus
    lines = query_scores.chunk_text(chunk).split("\n")
    code = list(code_lines(lines)) if corpus.files[corpus.chunk_files[chunk]].role.is_code else lines
    return find_terms("\n".join([*(code or lines), corpus.chunk_symbols[chunk] or ""]))


def _words_in_issue(query: Query, scores: Mapping[str, float]) -> list[str]:
    """Return terms as the issue writes them, heaviest first, without parts of a name that is there already."""
    shared: list[str] = []
    heaviest = sorted(scores, key=lambda one: (-scores[one], one))[:_MAX_TERMS]
    for term in heaviest:
        whole = max((other for other in heaviest if term in other), key=len)
        if not any(whole in other.lower() or other.lower() in whole for other in shared):
            shared.append(query.original_words.get(whole, whole))
    return shared


def _format_location(corpus: Corpus, chunk: int) -> str:
    symbol = corpus.chunk_symbols[chunk]
    lines = f"lines {corpus.chunk_starts[chunk]} to {corpus.chunk_ends[chunk]}"
    return f"`{_shorten_name(symbol)}`" if symbol else lines


def _shorten_name(symbol: str) -> str:
    return ".".join(symbol.split(".")[-_MAX_NAME_PARTS:])
