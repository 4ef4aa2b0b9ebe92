"""What part a file plays, by the folder and file names that each ecosystem uses, and how much that weighs."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from triage.find.files.languages import detect_language

_TEST_FOLDER = re.compile(
    r"(?:^|/)(?:[Tt]ests?|__(?:test\w*|mocks|fixtures|snapshots)__|[Ss]pecs?|mocks?|e2e|[Uu]nit[Tt]ests?|testsuites?"
    r"|testlib|[Tt]est[-_]?(?i:data|cases?|suite|utils?|fixtures?|support|helpers?|resources?|apps?)|[Ff]ixtures|cypress"
    r"|testing|regress|(?:oss-)?fuzz(?:ing|ers?|[-_]targets)?|src/it"
    r"|(?:[\w.]+[-_])?(?:unit|integration|functional|regression|smoke|acceptance)[-_]?tests?"
    r"|[a-z]+Test|[A-Z]\w*Tests|[\w.-]+[-_][Tt]ests|[^/]*\.(?:[A-Za-z]{0,40}Tests?|Specs?)(?:\.\w{1,40})?)/"
    r"|^(?:t|[Ss]napshots)/"
)
_TEST_FILE = re.compile(
    r"^(?:(?:unit)?test_.*|.*_(?:unit)?tests?|conftest|tests)\.(?![cm]?[jt]sx?$)\w+$"
    r"|(?:_spec\.(?:rb|lua|cr|exs?)|[._-](?:test|spec|e2e|cy)s?\.[cm]?[jt]sx?|\.test-d\.ts|\.phpt"
    r"|(?<=[a-z0-9])(?:Tests?|Spec|IT)(?:\+\w+)?\.(?:java|kts?|scala|groovy|cs|php|swift|mm?|cc|cpp|cxx))$"
)
_PRODUCT_FOLDERS = {
    "Python": "test|testing|fixtures|mocks?|specs?|test_?utils?",
    "Ruby": "testing",
    "PHP": "[Tt]esting|Test|TestSuite",
    "JavaScript": "testing|mock",
    "TypeScript": "testing|mock",
    "TSX": "testing|mock",
}
"""Folders of tests whose name also means product code inside a package of this language: `app/testing`, in Python
`app/test/client.py` too. There, tests are in `tests`, in a top-level folder, or in files named as tests."""
_SHIPPED = re.compile(r"(?:^|/)src/main/")
"""By the convention of the JVM, everything below is product code, whatever its name."""
_SOURCES = re.compile(r"(?:^|/)(?:src|lib|[Ss]ources?|internal|pkg|crates/[^/]+)/")
_EXAMPLES = re.compile(
    r"(?:^|/)(?:(?:[^/]*[-_ ])?[Ee]xamples?|(?:[\w-]+[-_])?samples?|demos?|tutorials?|storybook|[Pp]laygrounds?"
    r"|[^/]*\.(?:docc|playground)|(?:[\w-]+[-_])?[Bb]ench(?:es|mark(?:s|ing)?)?|asv_bench|jmh|dist"
    r"|single[-_]include|amalgamat(?:ed|ion)"
    r"|[^/]*\.(?:Samples?|Examples?|Benchmarks?|Demos?))/"
    r"|^(?:scripts|hack|ci|CI|site|www|umd|Samples?|Demos?|\.[^/]+)/"
)
_COMPLETION = re.compile(r"(?:^|/)(?:completions?|complete)/[^/]*\.(?:zsh|bash|fish|sh|ps1|nu|elv)$")
"""Shell completions have the name of every option and never the bug."""
_DOCUMENTATION = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc[-_]?src|guides?|(?:[\w-]+-)?website|perf|changelogs?|news)/|^Doc(?:s|umentation)?/"
)
"""Among sources such a folder is product code: `src/rules/documentation`, Go's package `doc`."""
_CHANGELOG = re.compile(
    r"(?:^|/)(?:change[-_]?log|changes|history|news|release[-_]?notes|whatsnew)[\w.-]{0,20}$"
    r"|(?:^|/)(?:change[-_]?logs?(?:\.d)?|news[-_]?fragments?|upcoming_changes|whatsnew|releases?)/[^/]+\.\w{2,12}$",
    re.IGNORECASE,
)
"""One file, or one a version or a change."""
TEST_FACTOR, AUXILIARY_FACTOR, NON_CODE_FACTOR = 0.3, 0.4, 0.4
"""Measured on issues of twelve repositories: most fixes are in product code."""


@dataclass(frozen=True, slots=True)
class FileRole:
    is_test: bool
    is_auxiliary: bool
    """Documentation, examples, benchmarks, build output."""
    is_code: bool

    @property
    def is_product_code(self) -> bool:
        return self.is_code and not self.is_test and not self.is_auxiliary

    @property
    def prior(self) -> float:
        """The factor of the rank for files of this role, from 0 to 1."""
        return (
            (TEST_FACTOR if self.is_test else 1.0)
            * (AUXILIARY_FACTOR if self.is_auxiliary else 1.0)
            * (1.0 if self.is_code else NON_CODE_FACTOR)
        )


class _FolderRole(NamedTuple):
    is_test: bool
    is_auxiliary: bool
    is_shipped: bool
    """Below a folder such as `src/main`: product code, whatever its name."""


def is_changelog(path: str) -> bool:
    """Return whether the file tells users what changed, by its name or its folder's."""
    return _CHANGELOG.search(path) is not None and detect_language(path) is None


def classify_file(path: str) -> FileRole:
    language = detect_language(path)
    before, slash, name = path.rpartition("/")
    folder = _classify_folder(before + slash, language.name if language else "")
    is_test = folder.is_test or (not folder.is_shipped and _TEST_FILE.search(name) is not None)
    is_completion = not folder.is_shipped and _COMPLETION.search(path) is not None
    return FileRole(is_test=is_test, is_auxiliary=folder.is_auxiliary or is_completion, is_code=language is not None)


@lru_cache(maxsize=4_096)
def _classify_folder(folder: str, language: str) -> _FolderRole:
    """Return what all files of a folder share. Files come sorted by folder: this is most of the work."""
    shipped = _SHIPPED.search(folder)
    outer = folder[: shipped.start() + 1] if shipped else folder
    sources = _SOURCES.search(outer)
    above_sources = outer[: sources.start() + 1] if sources else outer
    is_documentation = language != "Go" and _DOCUMENTATION.search(above_sources)
    return _FolderRole(
        is_test=_TEST_FOLDER.search(_match_product_folders(language).sub("", outer)) is not None,
        is_auxiliary=bool(_EXAMPLES.search(outer) or is_documentation),
        is_shipped=shipped is not None,
    )


@cache
def _match_product_folders(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=/)(?:{_PRODUCT_FOLDERS.get(language, 'testing|specs?')})/")
