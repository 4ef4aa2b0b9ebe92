"""GitHub's parser is used by one thread at a time: its tables are shared, and it runs without Python's lock."""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import pytest
from cmarkgfm.cmark import Options, markdown_to_html_with_extensions
from hypothesis import given, strategies

from testing.text.pathological_text import PATHOLOGICAL_TEXTS
from triage.safety import markdown_html

EXTENSIONS = ["autolink", "strikethrough", "tasklist", "table"]
OPTIONS = Options.CMARK_OPT_GITHUB_PRE_LANG | Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE | 1 << 16
GROWTH = """
from pathlib import Path
from triage.safety.markdown_html import markdown_to_html

def read_kibibytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

def parse() -> None:
    for text in ("a|b\\n-|-\\n" + "a|b\\n" * 4_000, "word " * 3_000, "[a](b) *c* " * 1_000):
        markdown_to_html(text, raw_html=True)

parse()
before = read_kibibytes()
for _ in range(20):
    parse()
print(read_kibibytes() - before)
"""


def test_no_two_threads_are_in_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []
    most: list[int] = []

    def parse(markdown: str, options: int, extensions: Sequence[str]) -> str:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return ""

    monkeypatch.setattr(markdown_html, "_parse_and_free", parse)
    threads = [
        threading.Thread(target=markdown_html.markdown_to_html, args=("x",), kwargs={"raw_html": True})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_parsing_leaves_no_memory_behind() -> None:
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000  # 130,000 without freeing


def assert_same_html(text: str) -> None:
    expected = markdown_to_html_with_extensions(text, options=OPTIONS, extensions=EXTENSIONS)
    assert markdown_html.markdown_to_html(text, raw_html=True) == expected


@given(strategies.text(alphabet="ab[]()*_~`|-<>#:^!&; \n\\1.", max_size=80))
def test_the_html_is_that_of_cmarkgfm(text: str) -> None:
    assert_same_html(text)


@pytest.mark.parametrize("name", list(PATHOLOGICAL_TEXTS)[::7])
def test_hostile_text_is_parsed_and_freed(name: str) -> None:
    assert markdown_html.markdown_to_html(PATHOLOGICAL_TEXTS[name](2_000), raw_html=True) is not None
