"""Finds what the issue mentions: paths, stack frames, file names, definitions; and the files of dotted modules."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from operator import eq

from triage.base.text import word_set
from triage.domain.issue import Frame, ParsedIssue
from triage.find.files.languages import detect_language
from triage.find.rank.query import PathMention, Query
from triage.find.words.corpus import PACKAGE_STEMS, Corpus, DefinitionLocation
from triage.find.words.tokens import find_words

ReadLines = Callable[[int], Sequence[str]]
"""Returns the lines of a file by its number."""
PLAIN_WORD_WEIGHT = 0.3
"""Score of a definition whose name is a plain word: the issue rarely means it."""
_MIN_NAME = 3
_MAX_DEFINING_FILES = 60
"""A name that more files define is ignored."""
_MAX_FRAME_FILES = 2
"""A frame that may lie in more files is ignored."""
_IGNORED_STEMS = frozenset({*PACKAGE_STEMS, "main", "lib", "__main__", "init"})
_INSTALLED = re.compile(r"^.*(?:site|dist)-packages/")
_LANGUAGE_END = re.compile(r"\\\.(?:jl|nvim|vim|js|py|rb|el)$")
"""Of a repository's escaped name."""
_ABSOLUTE = re.compile(r"(?!.*(?:site|dist)-packages[/\\])(?:[/\\]|[A-Za-z]:[/\\]|\w+://|[\w.-]+:\d+/)")
"""A path of somebody's machine."""
_MIN_CODE_CHARS = 10
"""A shorter line of code may stand in a file by chance."""
_EATEN = re.compile(r"<[^<>]*>|[*_]")
"""What looks like a tag or an emphasis, which a page takes away from a line."""
_LINES_OF_CALL = 3
"""Above and below, which may belong to one expression with the line of a frame."""
_PLAIN_NAME = re.compile(r"(?!(?:func\d+|MoveNext|invoke|h[0-9a-f]{16})$)[^\W\d][\w-]*")
"""Of a function, in place of one that a compiler made: `<module>`, `func1`, `lambda$save$0`, `{{closure}}`, `add/2`."""
_NO_CODE = re.compile(r"\s*(?:$|#|//|--|/?\*\s|/\*|;;)")
"""A line that is blank or a comment: nothing that ran stands there."""
_LINES_BELOW_NAME = 15
"""Of a function in a language without a grammar, which may be declared in a way that is no definition here."""
_MADE_WORDS = word_set(
    "anonymous async block class clinit closure dictcomp ensure func1 genexpr global in init invoke lambda listcomp "
    "locals main module MoveNext new panic rescue setcomp"
)


@dataclass
class MentionScores:
    """Scores by file number, each from 0 to 1, and what they are based on."""

    path_scores: dict[int, float] = field(default_factory=dict)
    frame_scores: dict[int, float] = field(default_factory=dict)
    stem_scores: dict[int, float] = field(default_factory=dict)
    definition_scores: dict[int, float] = field(default_factory=dict)
    """Of the rarest definition that the issue mentions."""
    title_definition_scores: dict[int, float] = field(default_factory=dict)
    innermost_frame_scores: dict[int, float] = field(default_factory=dict)
    """Of the files of the innermost frame that lies in the repository."""

    frames: dict[int, PathMention] = field(default_factory=dict)
    lines: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Mentioned lines of each file, innermost frame first."""
    definitions: dict[int, list[tuple[float, DefinitionLocation]]] = field(default_factory=lambda: defaultdict(list))
    """Mentioned definitions of each file, with their scores: up to 1, lower for common names."""


def find_mentions(corpus: Corpus, query: Query, read_lines: ReadLines) -> MentionScores:
    """Return the files that the issue names, and by what: each step below adds its own scores to what was found."""
    mentions = MentionScores()
    _add_references(corpus, query, read_lines, mentions)
    _add_stems(corpus, query, mentions)
    _add_definitions(corpus, query, mentions)
    return mentions


def _add_references(corpus: Corpus, query: Query, read_lines: ReadLines, mentions: MentionScores) -> None:
    """Add the files of frames and of paths."""
    frames = [one for one in query.references if one.depth]
    resolved = {frame: resolve_frame(corpus, read_lines, frame) for frame in frames}
    foreign = {frame.path for frame in frames} - {frame.path for frame in frames if resolved[frame]}
    others = {one.path: resolve_path(corpus, one.path) for one in query.references if one.path not in foreign}
    for reference in sorted(query.references, key=lambda one: -one.depth):
        # The reporter's own script is nobody's file, wherever the report names it.
        files = resolved[reference] if reference.depth else others.get(reference.path, [])
        in_product = [file for file in files if corpus.files[file].role.is_product_code]
        if reference.depth and not mentions.innermost_frame_scores and 0 < len(in_product) <= _MAX_FRAME_FILES:
            mentions.innermost_frame_scores = dict.fromkeys(in_product, 1 / len(in_product))
        for file in files:
            share = 1 / len(files)
            if not reference.depth:
                _raise_score(mentions.path_scores, file, share)
            elif _raise_score(mentions.frame_scores, file, reference.depth * share):
                mentions.frames[file] = reference
            if line := find_frame_place(corpus, read_lines(file), file, reference).first_line:
                mentions.lines[file].append(line)


@dataclass(frozen=True, slots=True)
class FramePlace:
    """Where a frame of the reporter's version is in a file of this commit."""

    line: int | None = None
    """None if only its function is here."""
    definition: DefinitionLocation | None = None
    symbol: str | None = None
    is_here: bool = True
    """False if neither its function nor the line that it shows is in the file, as far as definitions are known."""
    is_named: bool = True
    """The name of its function stands in the file, if it has any: only then nobody can say that it is not there."""
    is_sure: bool = False
    """Its function or the line that it shows is in the file: a user's own script has neither."""

    @property
    def first_line(self) -> int | None:
        return self.line or (self.definition.start if self.definition else None)


def find_frame_place(corpus: Corpus, lines: Sequence[str], file: int, frame: PathMention) -> FramePlace:
    """Return where a frame is. The line that it shows wins over the number, which is that of another version."""
    inside, name = _find_function(corpus, file, frame.function)
    line = frame.line if frame.line and frame.line <= len(lines) else None
    if line and name and not _may_run(lines[line - 1].strip(), frame.code):
        line = None  # the number is of another version
    shown = [number for number, text in enumerate(lines, 1) if text.strip() == frame.code] if frame.code else []
    near = sorted(shown, key=lambda one: abs(one - (frame.line or one)))
    if inside:
        near = [one for one in near if _is_in(one, inside)]
    elif name and (len(near) > 1 or len(frame.code) < _MIN_CODE_CHARS):
        near = []  # a line of another function, by chance
    if near:
        return _make_frame_place(corpus, file, near[0], is_sure=True)
    if inside:
        calls = [] if frame.code or frame.callee == name else _find_calls(lines, inside, frame.callee)
        is_waiting = line and re.search(r"\bawait\b", lines[line - 1])  # for what another line has called
        if calls and not is_waiting and all(abs(one - (line or -_LINES_OF_CALL)) > _LINES_OF_CALL for one in calls):
            line = calls[0] if len(calls) == 1 else None  # what the frame calls stands elsewhere by now
        if line and _is_in(line, inside):
            return _make_frame_place(corpus, file, line, is_sure=True)
        nearest = min(inside, key=lambda one: abs(one.start - (frame.line or one.start)))
        return FramePlace(None, nearest, nearest.name if len(inside) == 1 else name, is_sure=True)
    return _find_undefined(corpus, lines, file, frame, name, line)


def _find_calls(lines: Sequence[str], inside: Iterable[DefinitionLocation], callee: str) -> list[int]:
    """Return the numbers of the lines of functions that name another one, also as a callback; none if none calls it."""
    if not _PLAIN_NAME.fullmatch(callee) or callee in _MADE_WORDS:
        return []
    word = rf"(?<![\w-]){re.escape(callee)}(?![\w-])"
    numbers = {number for one in inside for number in range(one.start, min(one.end, len(lines)) + 1)}
    found = [number for number in sorted(numbers) if callee in lines[number - 1] and re.search(word, lines[number - 1])]
    code = (lines[number - 1] for number in found if not _NO_CODE.match(lines[number - 1]))
    return found if any(re.search(rf"{word}\s?\(", line) for line in code) else []


def _may_run(line: str, shown: str) -> bool:
    """Return whether a line may be the one that a frame shows, perhaps without its end; of none, whether it is code."""
    if not shown:
        return not _NO_CODE.match(line)
    if len(shown) < _MIN_CODE_CHARS or len(line) < _MIN_CODE_CHARS:
        return False
    is_cut = line.startswith(shown) or shown.startswith(line)
    return is_cut or _EATEN.sub("", line) == _EATEN.sub("", shown)


def _find_undefined(
    corpus: Corpus, lines: Sequence[str], file: int, frame: PathMention, name: str, line: int | None
) -> FramePlace:
    """Return where a frame is whose function has no definition in the file, and whose code is not there."""
    word = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
    found = {number: text for number, text in enumerate(lines, 1) if name and name in text and re.search(word, text)}
    if found or (name and file in corpus.definitions_by_file):
        # A function may be made by an assignment, which is no definition.
        is_assigned = any(re.search(rf"{word}[\"']?\s*[=:]", text) for text in found.values())
        # Ruby names the line that calls a function of its own, such as `require`.
        is_assigned |= frame.path.endswith(".rb") and line in found
        language = detect_language(corpus.files[file].path)
        if language and not language.grammar:
            is_assigned |= any(0 <= (line or 0) - number <= _LINES_BELOW_NAME for number in found)
            if not is_assigned and len(found) == 1:  # where the function is made, whichever way
                (start,) = found
                definition = DefinitionLocation(file, start, min(start + _LINES_BELOW_NAME, len(lines)), name)
                return FramePlace(None, definition, name, is_sure=True)
    else:
        is_assigned = not frame.code
    if is_assigned and line:
        return _make_frame_place(corpus, file, line, is_sure=bool(name))
    is_sure = is_assigned and bool(name)
    return FramePlace(
        is_here=is_sure or (is_assigned and not frame.line), is_named=bool(found or not name), is_sure=is_sure
    )


def _make_frame_place(corpus: Corpus, file: int, line: int, *, is_sure: bool) -> FramePlace:
    around = corpus.find_enclosing(file, line)
    return FramePlace(line, around, around.name if around else None, is_sure=is_sure)


def _is_in(line: int, locations: Iterable[DefinitionLocation]) -> bool:
    return any(one.start <= line <= one.end for one in locations)


def _find_function(corpus: Corpus, file: int, function: str) -> tuple[Sequence[DefinitionLocation], str]:
    """Return the definitions of a frame's function in a file, and its name; empty if a compiler made the name."""
    words = find_words(function)
    name = Frame(path="", function=function).name
    names = [name] if _PLAIN_NAME.fullmatch(name) else [word for word in reversed(words) if word not in _MADE_WORDS]
    inside = next((found for one in names if (found := corpus.find_definitions(file, one))), ())
    owned = [one for one in inside if not {*words}.isdisjoint(one.name.split(".")[:-1])]
    return owned or inside, name if _PLAIN_NAME.fullmatch(name) else ""


def resolve_frame(corpus: Corpus, read_lines: ReadLines, frame: PathMention) -> list[int]:
    """Return the files that a frame may lie in.

    A user has a `src/utils.js` or an `app/models.py` too, but neither with our function nor with our line. Without
    either, the path itself must say that it is ours: of an installed Python package, or relative and whole.
    """
    files, shared = _match_path(corpus, frame.path)
    if not files and frame.path.endswith(".java"):  # as obfuscated traces of Kotlin are written out
        files, shared = _match_path(corpus, frame.path.removesuffix("java") + "kt")
    files = [file for file in files if corpus.files[file].compressed_text is not None]
    sure = [file for file in files if find_frame_place(corpus, read_lines(file), file, frame).is_sure]
    if sure or len(files) != 1 or _ABSOLUTE.match(frame.path):
        return sure
    written = _INSTALLED.sub("", frame.path.replace("\\", "/")).split("/")
    return files if len([part for part in written if part not in ("", ".", "..")]) == shared > 1 else []


def shorten_own_frames(parsed: ParsedIssue, corpus: Corpus, repository: str) -> ParsedIssue:
    """Return the issue with the paths of this repository in frames of a checkout or of an installed copy.

    The folder of `/builds/acme/till/src/app.go` or of `registry/src/index/till-0.4.0/src/app.rs` has the repository's
    name, with its language or without as in `.julia/packages/Till/a1B2c`, and what follows is the whole path of a file.
    `repository` is `owner/name`, or the name alone.
    """
    name = re.escape(repository.rpartition("/")[2])
    version = r"(?:[-@](?:v?\d[\w.+-]*|master|main))?/(?:\w{4,5}/(?=src/))?"
    folder = re.compile(rf"(?<![^/])(?:{name}|{_LANGUAGE_END.sub('', name)}){version}", re.IGNORECASE)

    def shorten(frame: Frame) -> Frame:
        below = (frame.path[found.end() :] for found in folder.finditer(frame.path))
        path = next((one for one in (frame.path, *below) if one in corpus.file_numbers), frame.path)
        return frame.model_copy(update={"path": path})

    traces = [one.model_copy(update={"frames": [*map(shorten, one.frames)]}) for one in parsed.traces]
    return parsed.model_copy(update={"traces": traces})


def resolve_path(corpus: Corpus, written: str) -> list[int]:
    """Return the files whose path shares the most last components with the written one.

    One shared component is enough only if the issue writes no more or the file is at the root: a user's own
    `app/models.py` is not the project's `orm/models.py`. A bare `main.py` or `index.js` names no file.
    """
    return _match_path(corpus, written)[0]


def _match_path(corpus: Corpus, written: str) -> tuple[list[int], int]:
    """Return these files, and the number of components that they share."""
    parts = [part for part in written.lower().replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts or "." not in parts[-1] or (len(parts) == 1 and _read_stem(parts[0]) in _IGNORED_STEMS):
        return [], 0
    best: list[int] = []
    max_shared = 1
    for file in corpus.files_by_stem.get(_read_stem(parts[-1]), ()):
        own = corpus.files[file].path.lower().split("/")
        shared = sum(takewhile(bool, map(eq, reversed(own), reversed(parts))))
        if shared == 0 or (shared == 1 and len(parts) > 1 and len(own) > 1):
            continue
        if shared > max_shared:
            best, max_shared = [], shared
        if shared == max_shared:
            best.append(file)
    return best, max_shared


def _read_stem(path: str) -> str:
    return re.split(r"[/\\]", path.lower())[-1].rpartition(".")[0]


def resolve_module(corpus: Corpus, parts: Sequence[str]) -> list[int]:
    """Return the files of a module: `a.b` is `…/a/b.py` or `…/a/b/__init__.py`."""
    packages = (file for stem in PACKAGE_STEMS for file in _find_ending(corpus, [*parts, stem]))
    return _find_ending(corpus, parts) or list(packages)


def _find_ending(corpus: Corpus, parts: Sequence[str]) -> list[int]:
    wanted = _reverse(parts)
    named = corpus.files_by_stem.get(wanted[0].lower(), ())
    return [file for file in named if _reverse_path(corpus.files[file].path)[: len(wanted)] == wanted]


@lru_cache(maxsize=16_384)
def _reverse_path(path: str) -> list[str]:
    *folders, name = path.split("/")
    return _reverse([*folders, name.rpartition(".")[0] or name])


def _reverse(parts: Sequence[str]) -> list[str]:
    # A crate's modules are in its `src`, and its folder may have dashes.
    return [part.replace("-", "_") for part in reversed(parts) if part != "src"] or [*parts]


def _add_stems(corpus: Corpus, query: Query, mentions: MentionScores) -> None:
    """Add the files whose name, without its ending, is a word of the issue."""
    for word in {word.lower() for word in query.all_words}:
        by_stem = corpus.files_by_stem
        files = by_stem.get(word) or by_stem.get(word.removesuffix("s")) or by_stem.get(f"{word}s") or ()
        if word in _IGNORED_STEMS or len(word) < _MIN_NAME:
            continue
        for file in files:
            _raise_score(mentions.stem_scores, file, 1 / len(files))


def _add_definitions(corpus: Corpus, query: Query, mentions: MentionScores) -> None:
    """Add the files that define a word of the issue, if only few do."""
    for word in sorted(query.all_words):
        locations = corpus.definitions.get(word, ())
        if not locations or len(word) < _MIN_NAME:
            continue
        locations = _resolve_definitions(corpus, locations, query.owners.get(word, ()))
        files = {location.file for location in locations}
        if len(files) > _MAX_DEFINING_FILES:
            continue
        is_plain = word.islower() and "_" not in word and word not in query.code_words
        score = (PLAIN_WORD_WEIGHT if is_plain else 1.0) / len(files)
        for file in files:
            _raise_score(mentions.definition_scores, file, score)
            if word in query.title_words:
                _raise_score(mentions.title_definition_scores, file, score)
        for location in locations:
            mentions.definitions[location.file].append((score * (1.5 if word in query.title_words else 1.0), location))


def _resolve_definitions(
    corpus: Corpus, locations: Sequence[DefinitionLocation], owners: Iterable[str]
) -> Sequence[DefinitionLocation]:
    """Return the definitions inside an owner that the issue names, if any, and of those the ones in product code."""
    wanted = set(owners)
    inside = [location for location in locations if wanted.intersection(location.name.split(".")[:-1])]
    in_product = [location for location in inside or locations if corpus.files[location.file].role.is_product_code]
    return in_product or inside or locations


def _raise_score(scores: dict[int, float], file: int, score: float) -> bool:
    """Set a file's score where the new one is higher; whether it was."""
    if score <= scores.get(file, 0.0):
        return False
    scores[file] = score
    return True
