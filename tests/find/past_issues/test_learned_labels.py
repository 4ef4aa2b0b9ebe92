import pytest

from testing.cost_growth import assert_grows_linearly
from tests.find.past_issues.past import START, past_issue
from triage.domain.issue import Issue, ParsedIssue
from triage.domain.past_issues import LearnedFromLabels, PastIssue
from triage.find.past_issues.learned_labels import MAX_LABELS, MIN_LABELLED, learn_from_labels
from triage.read.read_issue import read_issue

TEXTS = {
    "bug": ("Crash in parser{n} on startup", "It fails with an error every time.\nTraceback follows."),
    "enhancement": ("Add option{n} to the export", "It would be nice to configure this.\nPlease support it."),
    "question": ("How do I use feature{n}?", "I could not find it in the documentation. Any help?"),
}


def read(title: str, body: str = "") -> ParsedIssue:
    return read_issue(Issue(title=title, body=body))


def labelled(each: int, **changes: object) -> list[PastIssue]:
    return [
        past_issue(3 * number + place, title.format(n=number), body, labels=[label]).model_copy(update=changes)
        for number in range(each)
        for place, (label, (title, body)) in enumerate(TEXTS.items())
    ]


@pytest.mark.parametrize(
    ("title", "label", "kind"),
    [
        ("Crash in renderer on startup", "bug", "bug"),
        ("Add option to the import", "enhancement", "feature_request"),
        ("How do I use filters?", "question", "question"),
    ],
)
def test_the_label_and_the_kind_that_similar_issues_carry(title: str, label: str, kind: str) -> None:
    learned = learn_from_labels(read(title, TEXTS[label][1]), labelled(30))
    assert [one.name for one in learned.labels] == [label]
    assert max(learned.kinds, key=lambda one: learned.kinds[one]) == kind
    assert sum(learned.kinds.values()) == pytest.approx(1)


def test_nothing_is_learned_from_few_labelled_issues() -> None:
    few = labelled(30)[: MIN_LABELLED - 1]
    bare = [past_issue(number, "Crash in parser", "It fails.") for number in range(100, 200)]
    assert learn_from_labels(read("Crash in renderer"), [*few, *bare]) == LearnedFromLabels()
    assert learn_from_labels(read("Crash in renderer"), [*few, past_issue(99, "a", labels=["bug"])]).labels


def test_issues_of_bots_teach_nothing() -> None:
    assert learn_from_labels(read("Crash"), labelled(30, author="renovate[bot]")) == LearnedFromLabels()


def test_a_label_that_names_no_kind_is_learned_and_the_kind_is_not() -> None:
    past = [one.model_copy(update={"labels": [f"area {one.labels[0][:1]}"]}) for one in labelled(30)]
    learned = learn_from_labels(read("Crash in renderer on startup", TEXTS["bug"][1]), past)
    assert [one.name for one in learned.labels] == ["area b"]
    assert learned.kinds == {}


@pytest.mark.parametrize(("carriers", "names"), [(9, []), (10, ["kernel"])])
def test_a_label_of_few_issues_is_not_learned(carriers: int, names: list[str]) -> None:
    rare = [past_issue(200 + number, "Kernel oops in driver", "Oops.", labels=["kernel"]) for number in range(carriers)]
    learned = learn_from_labels(read("Kernel oops in driver", "Oops."), [*labelled(30), *rare])
    assert [one.name for one in learned.labels] == names


def test_the_newest_issues_count() -> None:
    old = [one.model_copy(update={"labels": ["old"]}) for one in labelled(200)]
    new = [one.model_copy(update={"number": one.number + 1_000, "created_at": START}) for one in labelled(170)]
    learned = learn_from_labels(read("Crash in renderer on startup", TEXTS["bug"][1]), [*old, *new])
    assert [one.name for one in learned.labels] == ["bug"]


def test_a_million_labels_cost_nothing_more() -> None:
    stuffed = past_issue(5_000, "Crash", labels=[f"label {number}" for number in range(1_000_000)])
    learned = learn_from_labels(read("Crash in renderer on startup", TEXTS["bug"][1]), [*labelled(30), stuffed])
    assert [one.name for one in learned.labels] == ["bug"]
    assert MAX_LABELS < 100


def test_the_cost_does_not_grow_with_old_issues() -> None:
    parsed = read("Crash in renderer on startup")
    assert_grows_linearly(labelled, lambda past: learn_from_labels(parsed, past), size=800)
