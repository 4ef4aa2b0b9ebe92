"""The bench of live issues: what it shows of an issue, and which files it takes for named."""

import json
from pathlib import Path

import pytest

from bench.live import choose_records, group_by_time, hide_folds, list_named_files, read_said, show_issues
from testing.checkouts.git_repositories import commit

TRACE = """# Tax of an empty order

```
Traceback (most recent call last):
  File "shop/tax.py", line 2, in add_tax
    raise ValueError("no goods in the order")
ValueError: no goods in the order
```
"""


def test_shows_what_is_said_beside_what_should_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = tmp_path / "a1/shop/tax.py"
    code.parent.mkdir(parents=True)
    code.write_text('def add_tax(goods):\n    raise ValueError("no goods in the order")\n')
    commit(tmp_path / "a1")
    (tmp_path / "a1.md").write_text(TRACE)
    (tmp_path / "a1.json").write_text(json.dumps({"repository": "owner/shop", "date": "2026-01-02T00:00:00Z"}))
    (tmp_path / "said.tsv").write_text('id\twhat it is\twhat should be said\na1\tbug\tthe "line" that raises\n')
    show_issues(tmp_path, read_said(tmp_path / "said.tsv"))
    shown = capsys.readouterr().out
    assert "== a1  owner/shop#  Tax of an empty order\nis: bug  told: bug" in shown
    assert 'should: the "line" that raises\nsays: **' in shown
    assert "shop/tax.py" in shown.partition("says:")[2]
    assert shown.endswith("1 comments, 0 silences: found 1\n")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see [`src/a.c:3`](https://github.com/o/n/blob/f00/src/a.c#L3)", ["src/a.c"]),
        ("`main.c` and src/a.c.", ["main.c", "src/a.c"]),
        ("install it; lib/src/a.c is another", []),
        ("<details>src/a.c</details>\n", []),
    ],
)
def test_named_files_stand_whole_in_what_is_seen(text: str, named: list[str]) -> None:
    assert list_named_files(hide_folds(text), ["main.c", "src/a.c", "install"]) == named


def test_features_of_a_period_share_a_commit(tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    times = ["2021-03-04 01:00:00", "2020-01-02 03:00:00", "2020-01-01 02:00:00", "2020-02-01 00:00:00"]
    records = [{"repo": "o/n", "kind": "feature", "created_at": time} for time in times]
    others = [{"repo": "o/other", "kind": "question"}, {"repo": "o/n", "kind": "bug"}]
    chosen = choose_records([*others, *records], tmp_path, every=1)
    assert chosen == records
    assert choose_records(records, tmp_path, every=3) == [records[0], records[3]]
    months = [(str(first), len(group)) for _, first, group in group_by_time(chosen, "month")]
    assert months == [
        ("2020-01-01 02:00:00+00:00", 2),
        ("2020-02-01 00:00:00+00:00", 1),
        ("2021-03-04 01:00:00+00:00", 1),
    ]
    assert [len(group) for _, _, group in group_by_time(chosen, "year")] == [3, 1]
