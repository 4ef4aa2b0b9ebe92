"""Declared name: a distinctive name that the report writes, and that one file of the product declares.

Names in stack traces are no mentions.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from triage.base.text import word_set
from triage.domain.code import LeadRule
from triage.domain.issue import ParsedIssue
from triage.find.leads.lead import Lead
from triage.find.leads.reported_place import leave_out_commands
from triage.find.rank.mentions import resolve_module
from triage.find.rank.query import find_dotted_names
from triage.find.rank.reasons import is_project_name
from triage.find.rank.search import Search
from triage.find.words.corpus import DefinitionLocation
from triage.find.words.tokens import find_words

_MAX_NAMES = 40
"""Of each kind."""
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


@dataclass(frozen=True)
class _Report:
    search: Search
    parsed: ParsedIssue
    repository: str

    @cached_property
    def prose(self) -> str:
        return leave_out_commands(f"{self.parsed.title}\n{self.parsed.prose}")

    @cached_property
    def meaningless(self) -> frozenset[str]:
        """Names, in small letters, that say nothing: the reporter's own, branches, the product's name."""
        parsed = self.parsed
        code = "\n".join([*(block.text for block in parsed.code), parsed.prose])
        found = [*_DECLARED_HERE.findall(code), *_BRANCH.findall(f"{parsed.title}\n{parsed.prose}")]
        headings = find_words(" ".join(section.heading for section in parsed.sections))
        words = [word for pair in found for word in pair]
        return _STANDARD | {word.lower() for word in (*words, *headings, *find_words(self.repository))}

    def is_distinctive(self, name: str) -> bool:
        lower = name.lower()
        return lower not in self.meaningless and not is_project_name(self.search.corpus, lower)


def find_declared_names(search: Search, parsed: ParsedIssue, repository: str) -> Iterator[Lead]:
    """Yield the place of each distinctive name that one file of the product declares."""
    report = _Report(search, parsed, repository)
    dotted = dict.fromkeys(find_dotted_names([report.prose, "\n".join(report.parsed.stated_errors)]))
    foreign = islice((parts for parts in dotted if parts[0] not in sys.stdlib_module_names), _MAX_NAMES)
    qualified = (_find_qualified(report, parts) for parts in foreign)
    names = (_find_definition(report, name) for name in _list_names(report))
    yield from filter(None, (*qualified, *names))


def _find_qualified(report: _Report, parts: Sequence[str]) -> Lead | None:
    """Return what the module defines that the first parts name, or None: `crate::module::name`, `com.acme.Store`."""
    corpus = report.search.corpus
    for length in range(len(parts), 1, -1):
        files = [file for file in resolve_module(corpus, parts[:length]) if corpus.files[file].role.is_product_code]
        inside = [one for file in files for one in corpus.find_definitions(file, parts[-1])]
        if len(files) == 1 and inside and report.is_distinctive(parts[-1]):
            return _make_lead("qualified name", ".".join(parts), inside[:1])
    return None


def _list_names(report: _Report) -> Iterable[str]:
    """Return the names of code that the prose has, each with the owner before it: `Store.save`."""
    words, found = {*find_words(report.prose)}, dict[str, None]()
    for identifier in report.parsed.identifiers:
        *owners, name = re.split(r"::|->|[.#]", identifier.removesuffix("()").lstrip("@$"))
        is_plain = name.islower() and "_" not in name
        if name in words and (not is_plain or owners):
            found[".".join([*owners[-1:], name])] = None
    return islice(found, _MAX_NAMES)


def _find_definition(report: _Report, name: str) -> Lead | None:
    """Return the lead to a distinctive name if one file of product code alone defines it; else None."""
    owner, _, own = name.rpartition(".")
    locations = report.search.corpus.definitions.get(own, ())
    inside = [one for one in locations if owner and owner in one.name.split(".")[:-1]]
    if (owner and not inside and own.islower() and "_" not in own) or not report.is_distinctive(own):
        return None
    files = report.search.corpus.files
    ours = [one for one in inside or locations if files[one.file].role.is_product_code]
    return _make_lead("name", name if inside else own, ours) if len({one.file for one in ours}) == 1 else None


def _make_lead(rule: LeadRule, name: str, locations: Sequence[DefinitionLocation]) -> Lead:
    first = locations[0]
    symbol = first.name if len(locations) == 1 else name
    return Lead(rule, first.file, text=name, span=(first.start, first.end), symbol=symbol)
