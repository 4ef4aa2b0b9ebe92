"""Names of kinds inside names of labels."""

from testing.each_row import each_row
from triage.domain.findings import Kind
from triage.read.kind_names import choose_label, find_named_kind, strip_label


@each_row(
    "name",
    ["bug", "C-bug", "bug V2", "T: bug", "🐛 bug", "bug :bug:", "Type: Bug 🐞", "kind/bug", "Bug Report", "00 - Bug"],
)
def test_names_of_the_same_label(name: str) -> None:
    assert (strip_label(name), find_named_kind(name)) == ("bug", "bug")


@each_row(
    ("name", "kind"),
    [
        ("C-enhancement", "feature_request"),
        ("✨ feature request", "feature_request"),
        ("Type: Support", "question"),
        ("support for arm", None),
        ("help wanted", None),
        ("area: docs", "documentation"),
        ("docs bug", "documentation"),
        ("CI/CD", "ci"),
        ("crash", "bug"),
        ("confirmed bug", "bug"),
        ("not a bug", None),
        ("needs bug report", None),
        ("Bug or feature", None),
        ("[module] What the bug/feature is", None),
        ("kind/bug/CI", "ci"),
        ("parser", None),
    ],
)
def test_the_kind_that_a_name_means(name: str, kind: Kind | None) -> None:
    assert find_named_kind(name) == kind


def test_the_plainest_label_is_chosen() -> None:
    labels = ["good first bug", "bug V2", "Type: Bug 🐞", "defect"]
    assert choose_label(["bug", "defect"], labels) == "bug V2"
    assert choose_label(["bug"], ["good first bug"]) is None
