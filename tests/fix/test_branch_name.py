import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.fix.commit_text import make_branch_name


@pytest.mark.parametrize(
    ("number", "title", "name"),
    [
        (12, "Totals are wrong!", "triage/12-totals-are-wrong"),
        (None, "Totals are wrong", "triage/totals-are-wrong"),
        (3, "Über ..  größe @{1}.lock", "triage/3-uber-groe-1-lock"),
        (3, "合計が違う", "triage/3-fix"),
        (None, "", "triage/fix"),
        (1, "a" * 39 + " b", "triage/1-" + "a" * 39),
        (1, "a" * 39 + "-bc", "triage/1-" + "a" * 39),
        (1, "a" * 40 + " b", "triage/1-" + "a" * 40),
        (1, "a" * 41, "triage/1-" + "a" * 40),
        (None, "Set-Cookie header in a response interceptor is", "triage/set-cookie-header-in-a-response"),
    ],
)
def test_names(number: int | None, title: str, name: str) -> None:
    assert make_branch_name(number, title) == name


@given(st.none() | st.integers(1, 10**9), st.text())
def test_git_and_shells_take_every_name(number: int | None, title: str) -> None:
    assert re.fullmatch(r"triage/[a-z0-9]+(?:-[a-z0-9]+)*", make_branch_name(number, title))
