"""What programs of several languages print when they fail, as the toolchains of Debian 12 printed it."""

import pytest

from testing.each_row import each_row
from triage.base.processes import ProcessResult
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.reproduce.evidence import Execution
from triage.reproduce.runner.read_output import NOT_BUILT, list_failures, read_output

PATHS = ["src/lib.rs", "shop.go", "src/main/java/com/acme/Cart.java", "lib/shop.rb", "src/shop.php", "lib/shop.ex"]
RUST = "thread 'main' (12) panicked at src/lib.rs:2:5:\nindex out of bounds: the len is 0 but the index is 0\nnote: run with `RUST_BACKTRACE=1`\n"
GO = "panic: runtime error: index out of range [0] with length 0\n\ngoroutine 1 [running]:\nexample.com/shop.First(...)\n\t/w/source/shop.go:4\nmain.main()\n\t/w/source/cmd/report/main.go:10 +0x18\nexit status 2\n"
JAVA = 'Exception in thread "main" java.lang.IllegalArgumentException: no items\n\tat com.acme.Cart.total(Cart.java:5)\n\tat Main.main(Report.java:5)\n'
RUBY = "/w/source/lib/shop.rb:3:in `total': no items (ArgumentError)\n\tfrom report.rb:2:in `<main>'\n"
PHP = "PHP Fatal error:  Uncaught ValueError: no items in /w/source/src/shop.php:4\nStack trace:\n#0 /w/source/report.php(2): Shop\\total()\n#1 {main}\n  thrown in /w/source/src/shop.php on line 4\n"
ELIXIR = "** (ArgumentError) no items\n    (shop 1.0.0) lib/shop.ex:3: Shop.total/1\n    report.exs:1: (file)\n"
CPP = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check\nAborted\n"
ASSERTION = (
    "thread 'main' panicked at examples/report.rs:4:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n"
)
COMPILER = "warning: unused variable: `x`\n --> examples/report.rs:1:9\n  |\n\nerror[E0308]: mismatched types\n --> examples/report.rs:2:20\n  |\n\nerror: could not compile `shop`\n"


def read(output: str, code: int = 1, file: str = "examples/report.rs", *, is_late: bool = False) -> Execution:
    return read_output(ProcessResult(code, output.encode(), b"", is_late), "/w/source", file, PATHS)


@each_row(
    ("output", "file", "error", "places"),
    [
        (RUST, "", "panic: index out of bounds: the len is 0 but the index is 0", ["src/lib.rs"]),
        (GO, "cmd/report/main.go", "runtime error: index out of range [0] with length 0", ["<example>", "shop.go"]),
        (JAVA, "r/Report.java", "IllegalArgumentException: no items", ["<example>", PATHS[2]]),
        (RUBY, "report.rb", "ArgumentError: no items", ["<example>", "lib/shop.rb"]),
        (PHP, "report.php", "ValueError: no items", ["<example>", "src/shop.php"]),
        (ELIXIR, "report.exs", "ArgumentError: no items", ["lib/shop.ex"]),
        (CPP, "", "out_of_range: vector::_M_range_check", []),
        (ASSERTION, "examples/report.rs", "AssertionError: assertion `left == right` failed", ["<example>"]),
        (
            "report: src/a.c:3: total: Assertion `n > 0' failed.\nAborted\n",
            "",
            "AssertionError: Assertion `n > 0' failed.",
            [],
        ),
        ("shop: error: no items\n", "", "error: no items", []),
        ("x.sh: 1: ./shop: Segmentation fault\nSegmentation fault\n", "", "SIGSEGV", []),
        ("no words\n", "", "exit code 1", []),
        ("~~~\nshop: error: no items\n~~~\n", "", "error: no items", []),
    ],
)
def test_what_it_printed_is_its_failure(output, file, error, places):
    found = read(output, file=file or "examples/report.rs")
    assert (found.outcome, found.reason) == ("failed", "")
    assert found.failures[0].text == error
    assert [frame.path for frame in found.failures[0].frames] == places


def test_a_build_that_fails_says_why_without_its_warnings():
    found = read(COMPILER, NOT_BUILT)
    assert (found.outcome, found.reason) == ("failed", "it cannot be built")
    assert [one.text for one in found.failures] == ["error[E0308]: mismatched types"]


@each_row(
    ("code", "outcome", "error"),
    [(0, "passed", ""), (139, "failed", "SIGSEGV: the process died"), (-11, "failed", "SIGSEGV: the process died"),
     (255, "failed", "exit code 255"), (137, "could-not-run", ""), (-9, "could-not-run", ""), (125, "could-not-run", "")],
)  # fmt: skip
def test_the_code_says_how_it_ended(code, outcome, error):
    found = read("7\n", code)
    assert (found.outcome, "".join(one.text for one in found.failures), found.output) == (outcome, error, "7\n")
    assert found.is_traced == (outcome == "could-not-run")


def test_one_that_does_not_end_is_late_and_the_end_of_its_words_is_kept():
    assert read("", is_late=True).outcome == "timed-out"
    found = read("/w/source/x\n" + "a" * 9_000 + "\n" + RUST)
    assert len(found.output) == 8_000
    assert found.output.endswith(RUST)
    assert read("in /w/source/lib/shop.rb\n", 0).output == "in lib/shop.rb\n"  # where it was is no difference


@pytest.mark.parametrize("output", [RUST, GO, JAVA, RUBY, PHP, ELIXIR, CPP, ASSERTION, COMPILER])
def test_a_report_with_the_same_words_shows_the_same_failure(output):
    report = read_issue(Issue(title="It fails", body=f"Look:\n\n```\n{output}```\n"))
    assert [one.text for one in list_failures(report, "\n".join(block.text for block in report.code))] == [
        one.text for one in read(output).failures
    ]


def test_words_of_the_example_are_no_errors():
    code = 'fn main() {\n    eprintln!("error: no items");\n}\n'
    report = read_issue(Issue(title="It fails", body=f"```rust\n{code}```\n"))
    assert list_failures(report, "\n".join(block.text for block in report.code))
    assert list_failures(report, "") == []
