"""A section of a YAML file is replaced, and nothing else."""

import pytest
import yaml

from testing.each_row import each_row
from triage.base.strict_yaml import replace_section

NEW = "thresholds: {name: 0.8}"


@each_row(
    ("before", "after"),
    [
        ("", f"{NEW}\n"),
        ("# nothing yet\n", f"# nothing yet\n{NEW}\n"),
        ("# nothing yet", f"# nothing yet\n{NEW}\n"),
        ("ignore: [a]\n", f"ignore: [a]\n{NEW}\n"),
        ("ignore: [a]", f"ignore: [a]\n{NEW}\n"),
        ("a: 1\r\n", f"a: 1\r\n{NEW}\r\n"),
        ("thresholds: {name: 0.1} # why\nignore: [a]\n", f"{NEW} # why\nignore: [a]\n"),
        ("thresholds:\n  name: 0.1\n  trace: 0.2\n\n# about\nignore: [a]\n", f"{NEW}\n\n# about\nignore: [a]\n"),
        ("a: 1\nthresholds:\nb: 2\n", f"a: 1\n{NEW}\nb: 2\n"),
        ("thresholds: {}\n", f"{NEW}\n"),
        ("thresholds:\n  name:\n    - 1\n    - 2\nb: 2\n", f"{NEW}\nb: 2\n"),
    ],
)
def test_everything_else_stays(before: str, after: str):
    assert replace_section(before, "thresholds", NEW) == after
    assert yaml.safe_load(after)["thresholds"] == {"name": 0.8}


def test_a_mapping_in_braces_is_refused():
    with pytest.raises(ValueError, match="not a block mapping"):
        replace_section("{ignore: [a]}\n", "thresholds", NEW)
