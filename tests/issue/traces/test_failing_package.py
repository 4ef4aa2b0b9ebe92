"""Traces that end in a declared package."""

from testing.each_row import each_row
from triage.domain.issue import Frame, ParsedIssue, Trace
from triage.issue.traces.failing_package import find_failing_package


@each_row(
    ("path", "declared", "name", "repository"),
    [
        ("/usr/lib/python3/site-packages/numpy/core/a.py", ["numpy"], "numpy", ""),
        ("C:\\py\\Lib\\site-packages\\numpy\\core\\a.py", ["NumPy"], "numpy", ""),
        ("/v/site-packages/scikit_learn/a.py", ["scikit-learn"], "scikit_learn", ""),
        ("/v/site-packages/six.py", ["six"], "six", ""),
        ("/app/node_modules/a/node_modules/@acme/ui/dist/i.js", ["@acme/ui"], "@acme/ui", ""),
        ("/go/pkg/mod/github.com/spf13/cobra@v1.8.0/c.go", ["github.com/spf13/cobra"], "github.com/spf13/cobra", "spf13/cobra"),
        ("/go/pkg/mod/github.com/a/b/v2@v2.1.0/c.go", ["github.com/a/b/v2"], "github.com/a/b", "a/b"),
        ("/h/.cargo/registry/src/index.crates.io-6f1/console-0.15.8/src/a.rs", ["console"], "console", ""),
        ("/g/ruby/3.2.0/gems/rack-test-2.1.0/lib/a.rb", ["rack-test"], "rack-test", ""),
        ("/usr/lib/python3/site-packages/numpy/core/a.py", ["pandas"], None, ""),
        ("/app/numpy/core/a.py", ["numpy"], None, ""),
        ("", ["numpy"], None, ""),
    ],
)  # fmt: skip
def test_the_innermost_frame_names_the_package(
    path: str, declared: list[str], name: str | None, repository: str
) -> None:
    frames = [Frame(path="/v/site-packages/pandas/a.py"), Frame(path=path)]
    trace = Trace(language="python", frames=frames, exception="ValueError", message="no day")
    package = find_failing_package(ParsedIssue(traces=[trace]), declared)
    assert (package.name if package else None) == name
    if package:
        assert (package.repository, package.error) == (repository, "ValueError: no day")


def test_a_trace_without_an_error_names_none() -> None:
    trace = Trace(language="python", frames=[Frame(path="/v/site-packages/numpy/a.py")])
    assert find_failing_package(ParsedIssue(traces=[trace]), ["numpy"]) is None
