"""Lists of installed packages in prompts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from triage.agents.prompts import shorten_package_lists

NAMES = [f"package-{number}" for number in range(40)]


@pytest.mark.parametrize("form", ["{}   1.2.3", "{}==1.2.3", "{}@1.2.3", "- {}: 1.2.3", "{}  1.2.3  /home/ada/lib"])
def test_a_long_list_keeps_its_beginning_and_what_the_text_names(form: str):
    packages = [form.format(name) for name in [*NAMES, "xarray"]]
    shown = shorten_package_lists("\n".join(["xarray fails", *packages, "the end"])).split("\n")
    assert shown == [
        "xarray fails",
        *packages[:3],
        form.format("xarray"),
        "[... 37 further packages left out ...]",
        "the end",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "numpy 1.2\nscipy 1.3",
        "\n".join(f"step {number} of the recipe" for number in range(50)),
        "\n".join(f'  File "a.py", line {number}, in run' for number in range(50)),
        "\n".join(f"{number}: value" for number in range(50)),
    ],
)
def test_everything_else_stays(text: str):
    assert shorten_package_lists(text) == text


@given(st.text(max_size=200))
def test_a_short_text_stays(text: str):
    assert shorten_package_lists(text) == text


@pytest.mark.parametrize("piece", ["a 1\n", "a.", "a 1 ", "- ", "a==1\nb\n"])
def test_linear_in_the_text(piece: str):
    assert_grows_linearly(repeat_to(piece), shorten_package_lists)
