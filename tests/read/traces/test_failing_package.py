"""Traces that end in a declared package."""

from testing.each_row import each_row
from triage.domain.issue import Frame, ParsedIssue, Trace
from triage.read.traces.failing_package import find_failing_package


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
        ("/app/node_modules/.vite/deps/a.js", [], None, ""),
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
    trace = Trace(language="python", frames=[Frame(path="run.py"), Frame(path="/v/site-packages/numpy/a.py")])
    assert find_failing_package(ParsedIssue(traces=[trace]), ["numpy"]) is None


@each_row(
    ("declared", "own", "name", "is_declared"),
    [
        (["pandas"], [], "numpy", False),
        (["scipy"], [], "scipy", True),  # though it is the second trace
        (["numpy"], ["numpy"], "scipy", False),  # an installed copy of the project
        ([], ["run.py", "scipy"], "numpy", False),
    ],
)
def test_a_declared_package_comes_first_and_the_project_itself_never(
    declared: list[str], own: list[str], name: str, is_declared: bool
) -> None:
    traces = [
        Trace(
            language="python",
            frames=[Frame(path="run.py"), Frame(path=f"/v/site-packages/{one}/a.py")],
            message="no day",
        )
        for one in ("numpy", "scipy")
    ]
    package = find_failing_package(ParsedIssue(traces=traces), declared, own)
    assert package is not None
    assert (package.name, package.is_declared) == (name, is_declared)


@each_row(
    ("path", "own"),
    [
        ("/app/node_modules/@babel/core/lib/i.js", "babel-core"),
        ("/app/node_modules/@acme/ui/dist/i.js", "ui"),
        ("/go/pkg/mod/github.com/spf13/cobra@v1.8.0/c.go", "cobra"),
    ],
)
def test_a_package_of_the_repository_is_known_by_its_folder(path: str, own: str) -> None:
    trace = Trace(language="javascript", frames=[Frame(path="run.js"), Frame(path=path)], message="no day")
    assert find_failing_package(ParsedIssue(traces=[trace]), []) is not None
    assert find_failing_package(ParsedIssue(traces=[trace]), [], [own]) is None
