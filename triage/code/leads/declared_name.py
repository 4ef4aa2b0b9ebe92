"""Declared name: a distinctive name that the report writes, and that one file of the product declares.

A table says how each kind of name is written, and how the code declares it. Names in stack traces are no mentions.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from triage.base.text import word_set
from triage.code.leads.lead import Lead
from triage.code.leads.reported_place import leave_out_commands
from triage.code.rank.mentions import ModuleResolver
from triage.code.rank.query import find_dotted_names
from triage.code.rank.query_scores import QueryScores, documents_with
from triage.code.rank.reasons import is_project_name
from triage.code.words.corpus import DefinitionLocation
from triage.code.words.tokens import find_words, split_into_terms
from triage.domain.code import LeadRule
from triage.domain.issue import ParsedIssue

_MAX_NAMES = 40
"""Of each kind."""
_MAX_FILES = 100
"""That have all words of an option."""
_STANDARD = word_set(
    "main master develop run test tests index setup init start stop new get set call apply args kwargs self this app "
    "version help verbose debug quiet output config error exception object string number value data type name key id "
    "list dict item file path node"
)
"""Everybody's names."""
_DECLARED_HERE = re.compile(
    r"\b(?:def|class|function|func|fn|struct|interface|enum|trait|type|const|let|var|val|module|record)\s+(\w{1,80})"
    r"|^[ \t]*(\w{1,80})\s*=(?!=)",
    re.M,
)
_BRANCH = re.compile(r"(?i)\b(?:branch|tag|checkout|origin/)\W{0,3}(\w{1,80})|(\w{1,80})(?=\W{0,3}\b(?:branch|tag)\b)")
_BACKTICKED = re.compile(r"`([^`\n]{1,100})`")
_OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]{2,60})")
_COMPOSED = re.compile(r"(?<![\w./:@-])[A-Za-z][A-Za-z0-9]{1,40}(?:[-_][A-Za-z0-9]{1,40}){1,6}(?![\w./:@-])")
_CLASS_OF_ERROR = re.compile(
    r"'(\w{1,80})' object has no attribute|type object '(\w{1,80})' has no"
    r"|undefined method [`'‘]\S{1,80} for (?:an instance of |#?<?)(?:\w{1,80}::){0,5}([A-Z]\w{1,80})"
    r"|no (?:method|field|associated item|function)[^\n]{1,100} found for (?:\w{1,20} ){0,3}[`'&]{1,2}"
    r"(?:\w{1,80}::){0,5}([A-Z]\w{1,80})"
    r"|undefined (?:method|property):? \\?(?:\w{1,80}\\){0,8}(\w{1,80})(?:::|->)"
    r"|[`'\"](\w{1,80})[`'\"] (?:has no member|does not contain a definition)"
    r"|\bno (?:method|attribute|member|property) [`'\"]?\w{1,80}[`'\"]? (?:on|in|of) (?:type |class )?"
    r"[`'\"]?([A-Z]\w{1,80})"
)
"""What says that a class lacks something: Python, Ruby, Rust, PHP, Swift and C#, and prose."""
_SUFFIX = re.compile(r"(?:rule|check|inspection|command|plugin|cop|lint|handler|provider|action)s?$")
"""Of the file of what has an id."""
_DECLARES = re.compile(r"(?i)option|argument|flag|\barg\b|setting|config|default")
_DECLARING_LINES = 2


@dataclass(frozen=True)
class _Report:
    query_scores: QueryScores
    parsed: ParsedIssue
    repository: str

    @cached_property
    def prose(self) -> str:
        return leave_out_commands(f"{self.parsed.title}\n{self.parsed.prose}")

    @cached_property
    def errors(self) -> str:
        return "\n".join([*self.parsed.error_messages, *(one.message or "" for one in self.parsed.traces)])

    @cached_property
    def marked(self) -> list[str]:
        """What stands in backticks, and the words of the title."""
        return [*_BACKTICKED.findall(self.prose), *self.parsed.title.split()]

    @cached_property
    def modules(self) -> ModuleResolver:
        return ModuleResolver(self.query_scores.corpus)

    @cached_property
    def meaningless(self) -> frozenset[str]:
        """Names, in small letters, that say nothing: the reporter's own, branches, the product's name."""
        parsed = self.parsed
        code = "\n".join([*(block.text for block in parsed.code), parsed.prose])
        found = [*_DECLARED_HERE.findall(code), *_BRANCH.findall(f"{parsed.title}\n{parsed.prose}")]
        headings = find_words(" ".join(section.heading for section in parsed.sections))
        words = [word for pair in found for word in pair]
        return _STANDARD | {word.lower() for word in (*words, *headings, *find_words(self.repository))}

    @cached_property
    def files_by_id(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.query_scores.corpus.files):
            for stem in {one := re.sub(r"[-_]", "", file.stem), _SUFFIX.sub("", one)}:
                found.setdefault(stem, []).append(number)
        return found

    def is_distinctive(self, name: str) -> bool:
        lower = name.lower().removeprefix("--")
        return lower not in self.meaningless and not is_project_name(self.query_scores.corpus, lower)


def find_declared_names(query_scores: QueryScores, parsed: ParsedIssue, repository: str) -> Iterator[Lead]:
    """Yield the place of each distinctive name that one file of the product declares."""
    report = _Report(query_scores, parsed, repository)
    for rule, list_names, resolve in _KINDS:
        for name in list(dict.fromkeys(list_names(report)))[:_MAX_NAMES]:
            if report.is_distinctive(name) and (lead := resolve(report, rule, name)):
                yield lead


def _list_qualified(report: _Report) -> Iterable[str]:
    dotted = find_dotted_names([report.prose, report.errors])
    return (".".join(parts) for parts in dotted if parts[0] not in sys.stdlib_module_names)


def _list_classes(report: _Report) -> Iterable[str]:
    found = _CLASS_OF_ERROR.findall(f"{report.errors}\n{report.prose}")
    return (next(filter(None, names)) for names in found)


def _list_options(report: _Report) -> Iterable[str]:
    yield from (f"--{name}" for name in _OPTION.findall(report.prose))
    defined = report.query_scores.corpus.definitions
    yield from (name for name in report.marked if _COMPOSED.fullmatch(name) and name not in defined)


def _list_ids(report: _Report) -> Iterable[str]:
    return (name for name in report.marked if _COMPOSED.fullmatch(name) or re.fullmatch(r"\w+/\w+", name))


def _list_names(report: _Report) -> Iterable[str]:
    words = {*find_words(report.prose)}
    for identifier in report.parsed.identifiers:
        *owners, name = re.split(r"::|->|[.#]", identifier.removesuffix("()").lstrip("@$"))
        is_plain = name.islower() and "_" not in name
        if name in words and (not is_plain or owners):
            yield ".".join([*owners[-1:], name])


def _resolve_qualified(report: _Report, rule: LeadRule, name: str) -> Lead | None:
    """Return the definition in the module that the first parts name: `crate::module::name`, `com.acme.Store`."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        files = _list_product(report, report.modules.resolve(parts[:length]))
        inside = [one for file in files for one in report.query_scores.corpus.find_definitions(file, parts[-1])]
        if len(files) == 1 and inside and report.is_distinctive(parts[-1]):
            return _make_lead(rule, name, inside[:1])
    return None


def _resolve_definition(report: _Report, rule: LeadRule, name: str) -> Lead | None:
    owner, _, own = name.rpartition(".")
    locations = report.query_scores.corpus.definitions.get(own, ())
    inside = [one for one in locations if owner and owner in one.name.split(".")[:-1]]
    if (owner and not inside and own.islower() and "_" not in own) or not report.is_distinctive(own):
        return None
    files = report.query_scores.corpus.files
    ours = [one for one in inside or locations if files[one.file].role.is_product_code]
    return _make_lead(rule, name if inside else own, ours) if len({one.file for one in ours}) == 1 else None


def _resolve_literal(report: _Report, rule: LeadRule, name: str) -> Lead | None:
    """Return the line with the name as a string, of several the one that declares an option or a setting."""
    scores, corpus = report.query_scores, report.query_scores.corpus
    numbers = [corpus.vocabulary.find_number(term) for word in find_words(name) for term in split_into_terms(word)]
    documents = [{*documents_with(corpus.by_file, number).tolist()} for number in numbers if number is not None]
    files = _list_product(report, sorted(set.intersection(*documents)) if documents else [])
    text = re.compile(rf"[\"'`]{re.escape(name)}(?![\w-])")
    hits = [
        (file, number)
        for file in files[:_MAX_FILES]
        if corpus.files[file].has_bytes(name.encode())
        for number, line in enumerate(scores.file_lines(file), 1)
        if text.search(line)
    ]
    declared = [
        (file, number)
        for file, number in hits
        if any(
            _DECLARES.search(line) for line in scores.file_lines(file)[max(0, number - 1 - _DECLARING_LINES) : number]
        )
    ]
    found = declared or hits
    return Lead(rule, found[0][0], found[0][1], name) if len({file for file, _ in found}) == 1 else None


def _resolve_stem(report: _Report, rule: LeadRule, name: str) -> Lead | None:
    """Return the file whose name is the id: `function-literal` is `FunctionLiteralRule.kt`."""
    *folder, wanted = (re.sub(r"[-_]", "", part).lower() for part in name.split("/"))
    files = _list_product(report, report.files_by_id.get(wanted, ()))
    files = [
        file for file in files if not folder or f"/{folder[0]}/" in report.query_scores.corpus.files[file].path.lower()
    ]
    return Lead(rule, files[0], text=name) if len(files) == 1 else None


def _list_product(report: _Report, files: Iterable[int]) -> list[int]:
    return [file for file in files if report.query_scores.corpus.files[file].role.is_product_code]


def _make_lead(rule: LeadRule, name: str, locations: Sequence[DefinitionLocation]) -> Lead:
    first = locations[0]
    symbol = first.name if len(locations) == 1 else name
    return Lead(rule, first.file, text=name, span=(first.start, first.end), symbol=symbol)


_KINDS: Sequence[
    tuple[LeadRule, Callable[[_Report], Iterable[str]], Callable[[_Report, LeadRule, str], Lead | None]]
] = (
    ("qualified name", _list_qualified, _resolve_qualified),
    ("class", _list_classes, _resolve_definition),
    ("option", _list_options, _resolve_literal),
    ("id", _list_ids, _resolve_stem),
    ("name", _list_names, _resolve_definition),
)
"""What a name is, how the report writes it, and how the code declares it."""
