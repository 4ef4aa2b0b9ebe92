"""A threshold moves only for a clear gain, and then to where one wrong place costs four right ones."""

from codecs import BOM_UTF8
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.apps import make_app
from testing.checkouts.git_repositories import commit
from tests.backtest.samples import place
from triage.app.settings import Settings
from triage.backtest.results import LikelyPlace
from triage.backtest.thresholds import COST_OF_WRONG, MIN_PLACES, apply_choices, choose_thresholds, write_thresholds
from triage.base.errors import BadInput
from triage.domain.project_config import Thresholds


def choose(places: list[LikelyPlace], before: float = 0.7) -> float:
    return apply_choices(Thresholds(name=before), choose_thresholds(places, Thresholds(name=before))).name


def test_few_places_move_nothing():
    assert choose([place(0.9, edited=False)] * (MIN_PLACES - 1)) == 0.7


def test_wrong_places_raise_the_threshold_above_them():
    places = [place(0.75, edited=False)] * 4 + [place(0.92)] * 6
    assert choose(places) == 0.8


def test_right_places_below_lower_it_but_not_far():
    assert choose([place(0.6)] * 8) == 0.6
    assert choose([place(0.3)] * 20) == 0.7, "a few lucky issues must not make it much bolder"


def test_messages_of_commits_only_raise_thresholds():
    below, wrong = [place(0.6)] * 8, [place(0.75, edited=False)] * 8
    for places, after in ((below, 0.7), (wrong, 0.8)):
        choices = choose_thresholds(places, Thresholds(), may_lower=False)
        assert apply_choices(Thresholds(), choices).name == after


def test_a_small_gain_moves_nothing():
    assert choose([place(0.6)] * 3 + [place(0.9)] * 8) == 0.7


def test_if_nothing_is_right_hardly_anything_is_named():
    assert choose([place(0.9, edited=False)] * 10) == 0.95


def test_the_choice_says_what_speaks_for_it():
    [name] = [
        one
        for one in choose_thresholds([place(0.75, edited=False)] * 4 + [place(0.92)] * 6, Thresholds())
        if one.sign == "name"
    ]
    assert (name.named_before, name.right_before, name.named_after, name.right_after) == (10, 6, 6, 6)


def test_each_sign_has_its_own_and_duplicates_stay():
    places = [place(0.9, edited=False, sign="trace")] * 10
    before = Thresholds(duplicate=0.66)
    after = apply_choices(before, choose_thresholds(places, before))
    assert after == before.model_copy(update={"trace": 0.95})


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40),
    st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.95]),
)
def test_no_choice_is_worse_than_the_threshold_before(raw: list[tuple[float, bool]], before: float):
    places = [place(chance, edited) for chance, edited in raw]
    after = choose(places, before)

    def rate(threshold: float) -> int:
        named = [one for one in places if one.chance >= threshold]
        right = sum(one.edited for one in named)
        return right - COST_OF_WRONG * (len(named) - right)

    assert rate(after) >= rate(before)
    assert after == pytest.approx(before) or 0.1 <= after <= 0.95


PATH = ".github/triage.yml"
LINE = "thresholds: {trace: 0.3, message: 0.3, quote: 0.3, place: 0.5, name: 0.8, files: 0.6, duplicate: 0.6}"
NEW = Thresholds(name=0.8)


def write(root: Path, before: bytes) -> bytes:
    commit(root, {PATH: before})
    setup = make_app(Settings(), root).with_project_config()
    assert "Commit it" in write_thresholds(setup, NEW)
    return (root / PATH).read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"ignore: [third/**] # not ours\n", f"ignore: [third/**] # not ours\n{LINE}\n"),
        (b"thresholds: {name: 0.9}\n# then\nignore: [a]\n", f"{LINE}\n# then\nignore: [a]\n"),
        (b"ignore: [a]\r\n", f"ignore: [a]\r\n{LINE}\r\n"),
    ],
)
def test_everything_else_stays(tmp_path: Path, before: bytes, after: str):
    assert write(tmp_path, before).decode() == after


def test_a_mark_at_the_beginning_stays(tmp_path: Path):
    assert write(tmp_path, BOM_UTF8 + b"ignore: [a]\n") == BOM_UTF8 + f"ignore: [a]\n{LINE}\n".encode()


def test_a_file_is_made_where_there_is_none(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    write_thresholds(make_app(Settings(), tmp_path), NEW)
    assert (tmp_path / PATH).read_text() == f"{LINE}\n"


@pytest.mark.parametrize("before", [b"{ignore: [a]}\n", b"ignore: [a]\n...\n"])
def test_a_form_that_cannot_be_edited_is_left_alone(tmp_path: Path, before: bytes):
    commit(tmp_path, {PATH: before})
    with pytest.raises(BadInput, match="Add this line to it"):
        write_thresholds(make_app(Settings(), tmp_path).with_project_config(), NEW)
    assert (tmp_path / PATH).read_bytes() == before
