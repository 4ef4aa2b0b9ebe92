"""Why a file ranked, in words that its maintainer understands.

Each `_of_…` turns what signals rest on into `Reason`s; they are put in order, and the words that the issue and the code
share are added. What no signal knows, such as an embedding model's similarity, the caller brings.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from triage.index.corpus.bm25 import BM25
from triage.index.corpus.corpus import Corpus, DefinitionLocation
from triage.index.corpus.tokens import STOP_WORDS, find_words, split_into_terms
from triage.index.rank.called_code import find_calls_to
from triage.index.rank.mentions import resolve_line
from triage.index.rank.query import Query
from triage.index.rank.quotes import find_quotes, measure_message_overlap
from triage.index.rank.snippets import code_lines
from triage.text.word_set import word_set

if TYPE_CHECKING:
    from triage.index.rank.ranking import Ranking

MAX_REASONS = 5
_WORDS = 3
_DEFINITIONS = 2
_MIN_MESSAGE_SHARE = 0.5
"""Share of an error message from which on a file is said to hold it."""
_MIN_WORTH = 0.04
"""A definition that many files share is no reason."""
_MIN_CHARS = 3
_COMMON_SHARE, _FEW_FILES = 0.2, 5
"""A word in more than this share of the files, and in more than so many, tells nothing about one of them."""
_MIN_PATHS = 3
"""With fewer, a word of most paths is not yet the project's name."""
_MAX_TERMS = 50
"""Looked at for one reason; an issue with a log has a thousand."""
_MAX_NAME_PARTS = 2
"""Of a qualified name: the place that is shown beside the reason has all of it."""
_QUOTED = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[\w.]+")
"""Names have reasons of their own."""
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
"""Words of programming languages. An issue's snippet has them whatever it is about."""
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


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence about one file."""

    strength: float
    """Comparable between signals: 5 for the innermost frame of a trace, 4 for a path, 2 for a rare name or words."""
    text: str
    """Without a full stop. May quote names from the repository and words from the issue, in backticks."""


def explain_rank(
    corpus: Corpus, query: Query, ranking: "Ranking", file: int, chunks: Sequence[int], brought: Iterable[Reason] = ()
) -> list[str]:
    """The strongest reasons for a file, strongest first, at most five.

    Args:
        corpus: The repository.
        query: What was looked for.
        ranking: What was found.
        file: Number of the file.
        chunks: The chunks that are shown of it, best first.
        brought: Reasons that the caller knows.
    """
    found = [
        *brought,
        *_explain_quotes(ranking, file, chunks),
        *_explain_calls(ranking, file),
        *_explain_frames(corpus, ranking, file),
        *_explain_paths(corpus, query, ranking, file),
        *_explain_definitions(corpus, query, ranking, file),
    ]
    said = {part.lower() for reason in found for name in _QUOTED.findall(reason.text) for part in find_words(name)}
    found.extend(_explain_words(corpus, query, ranking, chunks, said))
    return merge_reasons(found or _explain_common_words(corpus, query, ranking, file))


def merge_reasons(found: Iterable[Reason]) -> list[str]:
    """Texts in order of strength, each once, at most five."""
    ordered = sorted(found, key=lambda reason: -reason.strength)
    return list(dict.fromkeys(reason.text for reason in ordered))[:MAX_REASONS]


def is_distinctive(corpus: Corpus, term: str) -> bool:
    """Whether a word tells files apart: no keyword, not the project's name, not in every fifth file."""
    if len(term) < _MIN_CHARS or term in _IGNORED_WORDS or _is_project_name(corpus, term):
        return False
    return _document_frequency(corpus.by_file, corpus.vocabulary.find_number(term)) <= max(
        _FEW_FILES, _COMMON_SHARE * corpus.by_file.size
    )


def _is_project_name(corpus: Corpus, term: str) -> bool:
    """The word stands in most paths, as the name of a top package does."""
    in_paths = _document_frequency(corpus.by_path, corpus.vocabulary.find_number(term))
    return in_paths >= _MIN_PATHS and in_paths > corpus.by_path.size / 2


def _document_frequency(table: BM25, number: int | None) -> int:
    """Documents with the term."""
    known = number is not None and number + 1 < len(table.starts)
    return int(table.starts[number + 1] - table.starts[number]) if known and number is not None else 0


def _explain_frames(corpus: Corpus, ranking: "Ranking", file: int) -> Iterator[Reason]:
    frames = ranking.mentions.frames
    frame = frames.get(file)
    if frame is None:
        return
    moved = frame.line is not None and resolve_line(corpus, file, frame) != frame.line
    line = f" (line {frame.line}{' in the reporter’s version' if moved else ''})" if frame.line else ""
    if not frame.calls_before_error:
        yield Reason(5.0, f"innermost frame of the stack trace{line}")
    elif frame.depth == max(other.depth for other in frames.values()):
        yield Reason(4.5, f"innermost frame of the stack trace inside this repository{line}")
    else:
        further = f"{frame.calls_before_error} {'call' if frame.calls_before_error == 1 else 'calls'} before the error"
        yield Reason(1.5 + frame.depth, f"frame of the stack trace, {further}{line}")


def _explain_quotes(ranking: "Ranking", file: int, chunks: Sequence[int]) -> Iterator[Reason]:
    if measure_message_overlap(ranking.evidence, chunks) >= _MIN_MESSAGE_SHARE:
        yield Reason(3.0, "holds the text of the error message")
    worth = float(ranking.features["quoted text"][file])
    phrases = [phrase for phrase in find_quotes(ranking.evidence, file) if not _NAME.fullmatch(phrase)] if worth else []
    if phrases:
        quoted = " and ".join(f"`{phrase.replace('`', '')}`" for phrase in sorted(phrases, key=len)[-_DEFINITIONS:])
        yield Reason(1.8 * worth, f"holds {quoted}, quoted in the issue")


def _explain_calls(ranking: "Ranking", file: int) -> Iterator[Reason]:
    calls = find_calls_to(ranking.evidence, file) if ranking.features["called"][file] else {}
    for name, caller in sorted(calls.items())[:1]:
        strength = 1.2 * float(ranking.features["called"][file])
        yield Reason(strength, f"defines `{name}`, called by `{_shorten_name(caller)}`, which fits the issue")


def _explain_paths(corpus: Corpus, query: Query, ranking: "Ranking", file: int) -> Iterator[Reason]:
    named = ranking.mentions
    if file in named.path_scores and file not in named.frame_scores:
        yield Reason(4.0 * named.path_scores[file], "path named in the issue")
    if file in named.module_names and file not in named.frame_scores and file not in named.path_scores:
        yield Reason(2.2 * named.module_scores[file], f"module `{named.module_names[file]}` named in the issue")
    if file in named.title_stem_scores:
        yield Reason(1.5 * named.title_stem_scores[file], "file name stands in the title")
    elif file in named.stem_scores and _is_code_name(corpus, query, corpus.files[file].stem):
        yield Reason(0.6 * named.stem_scores[file], "file name stands in the issue")


def _explain_definitions(corpus: Corpus, query: Query, ranking: "Ranking", file: int) -> Iterator[Reason]:
    best: dict[str, tuple[float, DefinitionLocation]] = {}
    for weight, place in ranking.mentions.definitions.get(file, []):
        name = place.name.rpartition(".")[2]
        if weight >= _MIN_WORTH and weight > best.get(name, (0.0, place))[0] and _is_code_name(corpus, query, name):
            best[name] = (weight, place)
    strongest = sorted(best.items(), key=lambda one: -one[1][0])[:_DEFINITIONS]
    for where, inside in (("the title", True), ("the issue", False)):
        named = [(weight, place.name) for name, (weight, place) in strongest if (name in query.title_words) is inside]
        if named:
            quoted = " and ".join(dict.fromkeys(f"`{_shorten_name(name)}`" for _, name in named))
            yield Reason(2.0 * min(1.5, named[0][0]), f"defines {quoted}, named in {where}")


def _is_code_name(corpus: Corpus, query: Query, name: str) -> bool:
    """The issue means the code's name, not a word of everyday language that is spelled alike."""
    if "_" in name.strip("_") or not (name.islower() or name[1:].islower()):
        return True
    if name.islower():
        return name in query.code_words and is_distinctive(corpus, name)
    marked = name in query.code_words or name in query.title_words
    return marked or is_distinctive(corpus, name.lower())


def _explain_words(
    corpus: Corpus, query: Query, ranking: "Ranking", chunks: Sequence[int], said: Collection[str]
) -> Iterator[Reason]:
    """What the best chunk that has such words shares with the issue, unless other reasons say so."""
    for chunk in chunks:
        own = _chunk_terms(corpus, ranking, chunk)
        worth = _explain_terms(corpus.by_chunk, ranking, chunk)
        shared = _words_in_issue(
            query, {term: part for term, part in worth.items() if term in own and is_distinctive(corpus, term)}
        )
        if shared:
            marked = [word for word in shared if word in query.title_words or word in query.code_words]
            fresh = [word for word in marked or shared if not any(word.lower() in name for name in said)]
            if fresh:
                strength = 2.0 * float(ranking.chunk_scores[chunk]) / float(ranking.chunk_scores.max())
                yield Reason(strength, f"matches {_format_words(fresh)} in {_format_location(corpus, chunk)}")
            return


def _explain_common_words(corpus: Corpus, query: Query, ranking: "Ranking", file: int) -> Iterator[Reason]:
    """Where nothing else speaks for a file: words of its path, or common ones."""
    for table, text in ((corpus.by_path, "has {} in its path"), (corpus.by_file, "shares {} with the issue")):
        worth = _explain_terms(table, ranking, file)
        shared = _words_in_issue(
            query, {term: part for term, part in worth.items() if not _is_project_name(corpus, term)}
        )
        if shared:
            yield Reason(0.1, text.format(_format_words(shared)))
            return


def _explain_terms(table: BM25, ranking: "Ranking", document: int) -> dict[str, float]:
    """What each of the query's terms adds to a document, neighbouring words that make a name among them."""
    terms = ranking.evidence.terms
    return {terms[number]: part for number, part in table.explain_score(document, ranking.term_weights).items()}


def _chunk_terms(corpus: Corpus, ranking: "Ranking", chunk: int) -> set[str]:
    """Terms of a chunk's code and symbol: not those of its path, and of comments only where there is no code."""
    lines = ranking.evidence.chunk_text(chunk).split("\n")
    code = list(code_lines(lines)) if corpus.files[corpus.chunk_files[chunk]].role.is_code else lines
    found = {*find_words("\n".join(code or lines)), *find_words(corpus.chunk_symbols[chunk] or "")}
    return {term for word in found for term in split_into_terms(word)}


def _words_in_issue(query: Query, worth: Mapping[str, float]) -> list[str]:
    """Terms as the issue writes them, those that count most first; a part of a name that is there says nothing new."""
    shared: list[str] = []
    heaviest = sorted(worth, key=lambda one: (-worth[one], one))[:_MAX_TERMS]
    for term in heaviest:
        whole = max((other for other in heaviest if term in other), key=len)
        if not any(whole in other.lower() or other.lower() in whole for other in shared):
            shared.append(query.original_words.get(whole, whole))
    return shared


def _format_words(shared: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in islice(shared, _WORDS))


def _format_location(corpus: Corpus, chunk: int) -> str:
    symbol = corpus.chunk_symbols[chunk]
    return (
        f"`{_shorten_name(symbol)}`" if symbol else f"lines {corpus.chunk_starts[chunk]} to {corpus.chunk_ends[chunk]}"
    )


def _shorten_name(symbol: str) -> str:
    return ".".join(symbol.split(".")[-_MAX_NAME_PARTS:])
