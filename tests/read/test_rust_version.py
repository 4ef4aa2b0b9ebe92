"""The version of Rust is asked where a build failed, the manifest demands one and the report has none."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.read.questions import ask_rust_version
from triage.read.read_issue import read_issue

CARGO = '[workspace.package]\nedition = "2024"\nrust-version = "1.86"\n'
FAILED = "```\n$ cargo install --git https://example.com/shop\nerror: could not find `shop` with version `*`\n```"


@each_row(
    ("body", "manifest", "asked"),
    [
        (FAILED, CARGO, "Rust is this? I could not find it in the report. (`cargo --version`; `Cargo.toml`: 1.86)"),
        (FAILED, "", ""),
        (FAILED, '[package]\nname = "shop"\n', ""),
        (f"{FAILED}\n\ncargo 1.83.0 (5ffbef321 2024-10-29)", CARGO, ""),
        (f"{FAILED}\n\nI have Rust 1.83.", CARGO, ""),
        ("`cargo install shop` works, and then the total is off.", CARGO, ""),
        ("I ran `cargo install shop`. The total fails in it.", CARGO, ""),
        ("It fails: `error: no coins`", CARGO, ""),
        ("Installed by `cargo install shop`, `shop x` fails.", CARGO, ""),
        ("I ran `cargo install shop`.\n\n```\nerror[E0658]: unstable\nerror: could not compile `time`\n```", CARGO, "Rust is this?"),
    ],
)  # fmt: skip
def test_the_version_of_the_tool(body: str, manifest: str, asked: str) -> None:
    found = ask_rust_version(read_issue(Issue(title="Installation", body=body)), manifest)
    assert [one.question.startswith(f"Which version of {asked}") for one in found] == [True] * bool(asked)
