"""What part a file plays, by the folder and file names that each ecosystem uses, and how much that weighs."""

import re
from dataclasses import dataclass
from functools import cache

from triage.index.files.languages import detect_language

_TEST_FOLDER = re.compile(
    r"(?:^|/)(?:[Tt]ests?|__(?:test\w*|mocks|fixtures|snapshots)__|[Ss]pecs?|mocks?|e2e|[Uu]nit[Tt]ests?|testsuites?"
    r"|testlib|[Tt]est[-_]?(?i:data|cases?|suite|utils?|fixtures?|support|helpers?|resources?|apps?)|[Ff]ixtures|cypress"
    r"|testing|regress|(?:oss-)?fuzz(?:ing|ers?|[-_]targets)?|src/it"
    r"|(?:[\w.]+[-_])?(?:unit|integration|functional|regression|smoke|acceptance)[-_]?tests?"
    r"|[a-z]+Test|[A-Z]\w*Tests|[\w.-]+[-_][Tt]ests|[^/]*\.(?:[A-Za-z]{0,40}Tests?|Specs?)(?:\.\w{1,40})?)/"
    r"|^(?:t|[Ss]napshots)/"
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*_(?:unit)?tests?|conftest|tests)\.(?![cm]?[jt]sx?$)\w+$"
    r"|(?:^|/)[^/]*(?:_spec\.(?:rb|lua|cr|exs?)|[._-](?:test|spec|e2e|cy)s?\.[cm]?[jt]sx?|\.test-d\.ts|\.phpt"
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
"""Folders inside of a package that hold something for its users in this language, and tests in others: `app/testing`,
in Python `app/test/client.py` too. Its tests stand in `tests`, in a top-level folder, or in files that say so."""
_ELSEWHERE = "testing|specs?"
_SHIPPED = re.compile(r"(?:^|/)src/main/")
"""By the JVM's convention what stands below is the product, whatever its name."""
_SOURCES = re.compile(r"(?:^|/)(?:src|lib|[Ss]ources?|internal|pkg|crates/[^/]+)/")
_EXAMPLES = re.compile(
    r"(?:^|/)(?:(?:[^/]*[-_ ])?[Ee]xamples?|(?:[\w-]+[-_])?samples?|demos?|tutorials?|storybook|[Pp]laygrounds?"
    r"|[^/]*\.(?:docc|playground)|(?:[\w-]+[-_])?[Bb]ench(?:es|mark(?:s|ing)?)?|asv_bench|jmh|dist"
    r"|[^/]*\.(?:Samples?|Examples?|Benchmarks?|Demos?))/"
    r"|^(?:scripts|hack|site|www|umd|Samples?|Demos?|\.[^/]+)/"
)
_COMPLETION = re.compile(r"(?:^|/)(?:completions?|complete)/[^/]*\.(?:zsh|bash|fish|sh|ps1|nu|elv)$")
"""What a shell completes has every option's name, and no fault of the program."""
_DOCUMENTATION = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc[-_]?src|guides?|(?:[\w-]+-)?website|perf|changelogs?|news)/|^Doc(?:s|umentation)?/"
)
"""Among the sources such a folder is a part of the product: `src/rules/documentation`, Go's package `doc`."""
TEST_FACTOR, AUXILIARY_FACTOR, NON_CODE_FACTOR = 0.3, 0.4, 0.4
"""Factors measured on issues of twelve repositories: most fixes are in sources; others are demoted only."""


@dataclass(frozen=True, slots=True)
class FileRole:
    """The part a file plays."""

    is_test: bool
    is_auxiliary: bool
    """Documentation, examples, benchmarks, build output."""
    is_code: bool

    @property
    def is_product_code(self) -> bool:
        """A source file that a fix may well edit."""
        return self.is_code and not self.is_test and not self.is_auxiliary

    @property
    def prior(self) -> float:
        """Factor on the file's score."""
        return (
            (TEST_FACTOR if self.is_test else 1.0)
            * (AUXILIARY_FACTOR if self.is_auxiliary else 1.0)
            * (1.0 if self.is_code else NON_CODE_FACTOR)
        )


def classify_file(path: str) -> FileRole:
    """Judge a path."""
    language = detect_language(path)
    name = language.name if language else ""
    shipped = _SHIPPED.search(path)
    around = path[: shipped.start() + 1] if shipped else path
    test = bool(_TEST_FOLDER.search(_products(name).sub("", around)) or (not shipped and _TEST_FILE.search(path)))
    return FileRole(is_test=test, is_auxiliary=_is_aside(around, name), is_code=language is not None)


def _is_aside(path: str, language: str) -> bool:
    sources = _SOURCES.search(path)
    above = path[: sources.start() + 1] if sources else path
    return bool(
        _EXAMPLES.search(path) or _COMPLETION.search(path) or (language != "Go" and _DOCUMENTATION.search(above))
    )


@cache
def _products(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=/)(?:{_PRODUCT_FOLDERS.get(language, _ELSEWHERE)})/")
