"""Which example is chosen from a real repository, and from whose words."""

import pytest

from testing.checkouts.git_repositories import commit, git
from testing.each_row import each_row
from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ReproduceConfig
from triage.reproduce.project_checkout import NothingToRun, ProjectCheckout

BODY = "```python\nimport shop\nshop.bad()\n```\n\n```\nx.explode()\n```\n\nIt raises a KeyError. I use shop 1.0.\n"
ANSWER = IssueComment(author="reporter", body="```\nimport shop\nshop.worse()\n```")
REPORT = Issue(title="A ValueError", body=BODY, author="reporter", thread=[ANSWER])


@pytest.fixture
def checkout(tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {"pyproject.toml": '[project]\nname = "shop"\n', "shop/__init__.py": ""})
    for tag in ("v1.0", "v2.0", "v3.0rc1"):
        git(tmp_path, "tag", tag)
    return ProjectCheckout(tmp_path, ReproduceConfig())


def test_a_block_of_the_command_is_run_alone(checkout):
    own = "```python\nimport shop\nx = shop.make()\nx.total()\n```\n\nIt raises an `IndexError`.\n"
    found = checkout.select(REPORT, [], own)
    assert found.example.code == "import shop\nx = shop.make()\nx.total()\n"
    assert found.expected.errors == []
    assert "IndexError" in found.expected.claims
    assert "KeyError" not in found.expected.claims
    assert found.targets[0].on == "1.0", "the version is that of the report"
    assert "shop.bad()" in checkout.select(REPORT, []).example.code
    assert "KeyError" in checkout.select(REPORT, []).expected.claims


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ("```\npip 24.0\n```", "no block of the command is code that runs."),
        ("```\nimport os\nos.getcwd()\n```", "no block of the command imports shop."),
        ("```\nimport shop\nshop.f(y)\n```", "the command's code uses names that it does not define: y."),
    ],
)
def test_a_block_of_the_command_that_cannot_be_run_is_refused(checkout, own, reason):
    with pytest.raises(NothingToRun) as problem:
        checkout.select(REPORT, [], own)
    assert str(problem.value) == reason


def test_without_a_version_the_newest_release_of_the_time_of_the_report_is_run(checkout):
    first, second, _ = checkout.versions.releases
    checkout.versions.releases = [first, second.model_copy(update={"time": second.time.replace(year=2025)})]
    report = REPORT.model_copy(update={"body": "```python\nimport shop\nshop.bad()\n```\n", "opened_at": first.time})
    assert checkout.select(report, []).targets[0].on == "1.0"
    older = report.model_copy(update={"opened_at": first.time.replace(year=2001)})
    assert checkout.select(older, []).targets[0].on == "1.0"
    assert checkout.select(report.model_copy(update={"opened_at": None}), []).targets[0].on == "2.0"


@each_row(
    ("words", "on", "missing"),
    [
        ("I use shop 1.0.", "1.0", ""),
        ("I use shop 1.5.2.", "1.0", "1.5.2"),
        ("It fails with the 1.5.2 version.", "1.0", "1.5.2"),
        ("I use shop 3.0rc1.", "3.0rc1", ""),
        ("I use shop 3.0rc2.", "2.0", "3.0rc2"),
        ("I use shop at commit 1234567.", "2.0", ""),
        ("It is the latest version.", "2.0", ""),
        ("I use shop 0.5.", "2.0", "0.5"),
    ],
)
def test_the_version_of_the_report_is_run_or_the_one_before_it(checkout, words, on, missing):
    body = f"```python\nimport shop\nshop.bad()\n```\n{words}\n"
    found = checkout.select(REPORT.model_copy(update={"body": body}), [])
    assert (found.targets[0].on, found.missing, found.newest.on) == (on, missing, "2.0")


def test_a_version_whose_files_alone_say_it_and_one_of_another_branch_are_found(checkout, tmp_path):
    commit(tmp_path, {"a.py": ""})
    said = commit(tmp_path, {"shop/__init__.py": "__version__ = '1.7'"})
    for on in ([], ["1.7"]):
        found = ProjectCheckout(tmp_path, ReproduceConfig()).select(
            REPORT.model_copy(update={"body": BODY.replace("1.0", "1.7")}), on
        )
        assert (found.targets[0].on, found.targets[0].commit, found.missing) == ("1.7", said, "1.7")
    checkout.versions.releases = checkout.versions.releases[:1]  # the others are younger than the current commit
    found = checkout.select(REPORT, ["2.0"])
    assert (found.targets[0].on, found.missing) == ("2.0", "")


def test_of_a_project_without_tags_none_stands_in(tmp_path):
    commit(tmp_path, {"pyproject.toml": '[project]\nname = "shop"\n', "shop/__init__.py": ""})
    found = ProjectCheckout(tmp_path, ReproduceConfig()).select(REPORT, [])
    assert ([one.on for one in found.targets], found.missing) == (["main"], "")


def test_code_without_a_fence_is_run_if_there_is_no_block(checkout):
    body = "It fails:\n\nimport shop\nshop.bad()\n\nIt throws `ValueError: no items`.\n"
    found = checkout.select(REPORT.model_copy(update={"body": body, "thread": []}), [])
    assert (found.example.code, found.expected.errors[0].text) == ("import shop\nshop.bad()\n", "ValueError: no items")


def test_an_optional_package_that_a_traceback_calls_is_installed(tmp_path):
    extras = '[project]\nname = "shop"\n[project.optional-dependencies]\nfast = ["quick-json", "quickjson", "slow"]\n'
    commit(tmp_path, {"pyproject.toml": extras, "shop/__init__.py": ""})
    trace = 'Traceback (most recent call last):\n  File "shop/io.py", line 9, in f\n    return quickjson.dumps(slow)\nTypeError: no'
    body = f"```python\nimport shop\nshop.f()\n```\n\n```\n{trace}\n```\n"
    found = ProjectCheckout(tmp_path, ReproduceConfig()).select(Issue(title="A TypeError", body=body), [])
    assert found.project.companions == ["quickjson"]
