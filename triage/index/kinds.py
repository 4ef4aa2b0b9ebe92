"""What part a file plays, by the folder and file names that each ecosystem uses, and how much that weighs."""

import re
from dataclasses import dataclass

from triage.index.languages import language_of

_TEST_FOLDER = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|__mocks__|mocks?|e2e|testdata|test[-_]?(?:data|cases?|suite|utils?|fixtures?|support)"
    r"|fixtures|(?:unit|integration|functional|regression)[-_]?tests?|cypress|testing"
    r"|[a-z]+Test|[^/]*\.(?:[A-Za-z]*Tests?|Specs?))/"
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest|tests)\.\w+$"
    r"|(?:^|/)[^/]*(?:_spec\.rb|[._-](?:test|spec|e2e|cy)s?\.[cm]?[jt]sx?|(?<=[a-z0-9])(?:Tests?|TestCase|Spec|IT)\.(?:java|kts?|scala|groovy|cs|php|swift))$"
)
_PYTHON_SOURCE_FOLDER = re.compile(r"(?<=/)(?:test|testing|fixtures|mocks?|specs?)/")
_ASIDE_FOLDER = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc[-_]?src|website|examples?|samples?|demos?|tutorials?|bench(?:es|marks?)?|asv_bench"
    r"|perf|playground|changelogs?|news|dist|[Ee]xamples?|[Ss]amples?|[^/]*\.(?:Samples?|Examples?|Benchmarks?))/"
    r"|^(?:scripts|hack|\.[^/]+)/"
)
TEST, ASIDE, NO_CODE = 0.3, 0.4, 0.4
"""Factors measured on issues of twelve repositories: most fixes are in sources; others are demoted only."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The part a file plays."""

    test: bool
    aside: bool
    """Documentation, examples, benchmarks, build output."""
    code: bool

    @property
    def likely(self) -> bool:
        """A source file that a fix may well edit."""
        return self.code and not self.test and not self.aside

    @property
    def prior(self) -> float:
        """Factor on the file's score."""
        return (TEST if self.test else 1.0) * (ASIDE if self.aside else 1.0) * (1.0 if self.code else NO_CODE)


def kind_of(path: str) -> Kind:
    """Judge a path."""
    language = language_of(path)
    folders = path
    if language and language.name == "Python":
        # In Python a package's own `test` or `testing` module is a product for its users (`app/test/client.py`);
        # its tests stand in `tests`, in a top-level folder, or in files that say so.
        folders = _PYTHON_SOURCE_FOLDER.sub("", path)
    test = bool(_TEST_FOLDER.search(folders) or _TEST_FILE.search(path))
    return Kind(test=test, aside=bool(_ASIDE_FOLDER.search(path)), code=language is not None)
