"""The version of Rust or Go is asked where a build failed, the manifest demands one and the report has none."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.questions import ask_tool_version
from triage.read.read_issue import read_issue

CARGO = '[workspace.package]\nedition = "2024"\nrust-version = "1.86"\n'
GO = "module example.com/shop\n\ngo 1.23.2\n"
FAILED = "```\n$ cargo install --git https://example.com/shop\nerror: could not find `shop` with version `*`\n```"
NO_MODULE = "```\n$ go build -o shop\ngo: errors parsing go.mod:\ngo.mod:3: invalid go version '1.23.2'\n```"


@each_row(
    ("body", "manifests", "asked"),
    [
        (FAILED, {"Cargo.toml": CARGO}, "Rust is this? I could not find it in the report. (`cargo --version`; `Cargo.toml`: 1.86)"),
        (NO_MODULE, {"go.mod": GO}, "Go is this? I could not find it in the report. (`go version`; `go.mod`: 1.23.2)"),
        (NO_MODULE, {"Cargo.toml": CARGO, "go.mod": GO}, "Go is this?"),
        (FAILED, {}, ""),
        (FAILED, {"Cargo.toml": '[package]\nname = "shop"\n'}, ""),
        (FAILED, {"go.mod": GO}, ""),
        (f"{FAILED}\n\ncargo 1.83.0 (5ffbef321 2024-10-29)", {"Cargo.toml": CARGO}, ""),
        (f"{FAILED}\n\nI have Rust 1.83.", {"Cargo.toml": CARGO}, ""),
        (f"{NO_MODULE}\n\n`go version go1.18.1 linux/amd64`", {"go.mod": GO}, ""),
        ("`cargo install shop` works, and then the total is off.", {"Cargo.toml": CARGO}, ""),
        ("It fails: `error: no coins`", {"Cargo.toml": CARGO}, ""),
    ],
)  # fmt: skip
def test_the_version_of_the_tool(body: str, manifests: dict[str, str], asked: str) -> None:
    found = ask_tool_version(read_issue(Issue(title="Installation", body=body)), manifests)
    assert [one.question.startswith(f"Which version of {asked}") for one in found] == [True] * bool(asked)
