"""Commits have the draft's texts and the base commit's modes."""

from testing.fake_files import FakeFiles
from tests.fix.patch.drafts import make_draft
from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.commit_text import build_request


def test_modes_stay_and_new_files_are_plain():
    files = FakeFiles({"run.sh": BaseFile(text="old\n", mode="100755")})
    changes = [FileVersion(path="run.sh", text="new\n"), FileVersion(path="a.py", text="x\n", is_new_file=True)]
    tests = [FileVersion(path="tests/run.sh", text="t\n", is_new_file=True)]
    assert [dict(one.files) for one in build_request(make_draft(changes, tests), files).commits] == [
        {"tests/run.sh": BaseFile(text="t\n")},
        {"run.sh": BaseFile(text="new\n", mode="100755"), "a.py": BaseFile(text="x\n")},
    ]
