"""The project's own settings as text: what is taken, what is refused, and where."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from testing.each_row import each_row
from triage.app.app import MAX_CONFIG_BYTES, parse_project_config
from triage.base.errors import BadConfig
from triage.base.strict_yaml import MAX_PROBLEMS
from triage.domain.project_config import MAX_INSTRUCTION_CHARS, Labels, ModuleConfig, Price, ProjectConfig

ROOT = Path(__file__).parents[2]
PATH = ".github/triage.yml"
WHOLE = """\
# yaml-language-server: $schema=triage.schema.json
ignore: [docs/**, "*.generated.ts"]
labels:
  allow: [bug, 1.0, no]
opt-in-label: triage
opt-out-label: no-triage
instructions: |
  Reports about the old API are closed as wontfix.
prices: {my-model: {input: 1.5, output: 6, cached-input: 0.4}}
past-issues: 200
owners: {acme/core-team: octocat}
protected-paths: [migrations/]
modules: {api: {paths: [src/api/, ./], description: The HTTP API}}
"""


def read(text: str) -> ProjectConfig:
    return parse_project_config(text.encode(), PATH)


def refusal(text: str | bytes) -> tuple[int, str]:
    with pytest.raises(BadConfig) as caught:
        parse_project_config(text if isinstance(text, bytes) else text.encode(), PATH)
    said = str(caught.value)
    assert caught.value.path == PATH
    assert said.isprintable()
    return caught.value.line, said.removeprefix(f"{PATH} cannot be used: ")


def test_every_key_is_parsed():
    assert read(WHOLE) == ProjectConfig(
        ignore=["docs/**", "*.generated.ts"],
        labels=Labels(allow=["bug", "1.0", "no"]),
        opt_in_label="triage",
        opt_out_label="no-triage",
        instructions="Reports about the old API are closed as wontfix.\n",
        prices={"my-model": Price(input=1.5, output=6, cached_input=0.4)},
        past_issues=200,
        owners={"acme/core-team": "octocat"},
        protected_paths=["migrations/"],
        modules={"api": ModuleConfig(paths=["src/api/", "./"], description="The HTTP API")},
    )


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "null\n", "\ufeff", "ignore:\nlabels: ~\n"])
def test_a_file_may_be_empty(text: str):
    assert read(text) == ProjectConfig()


@each_row(
    ("text", "line", "said"),
    [
        ("\ningore: [a]", 2, "line 2: 'ingore' is not a known key (did you mean ignore?)."),
        ("opt_in_label: x", 1, "line 1: 'opt_in_label' is not a known key (did you mean opt-in-label?)."),
        ("zzz: x", 1, "line 1: 'zzz' is not a known key."),
        ("'[key]': x", 1, "line 1: '[key]' is not a known key"),
        ("\nlabels:\n  alow: [a]", 2, "line 2: labels.'alow' is not a known key (did you mean allow?)."),
        (
            "prices:\n  m: {input: 1, output: 1, cached: 1}",
            1,
            "line 1: prices.'m'.'cached' is not a known key (did you mean cached-input?).",
        ),
        ("ignore: docs", 1, "line 1: ignore: Input should be a valid list."),
        ("instructions: [a]", 1, "line 1: instructions: Input should be a valid string."),
        ("ignore:\n  - a\n  - {b: c}", 1, "line 1: ignore: Input should be a valid string."),
        ("ignore:\n  - a\n  - '[z-a]'", 1, "line 1: ignore: it is not a valid gitignore pattern"),
        (
            f"ignore: {['?' * 190 + str(number) for number in range(100)]}",
            1,
            "line 1: ignore: the patterns are too long",
        ),
        ("ignore: ['#a']", 1, r"line 1: ignore: a pattern that begins with # is a comment; write \# for a name"),
        ("ignore: [' a']", 1, "line 1: ignore: a pattern must be printable, without spaces around it."),
        ("labels: {allow: ['']}", 1, "line 1: labels.allow: String should have at least 1 character."),
        ("prices:\n  m:\n    input: 1", 1, "line 1: prices.'m'.output: Field required."),
        ("prices:\n  m:\n    input: much\n    output: 1", 1, "line 1: prices.'m'.input: Input should be a"),
        (
            "prices: {m: {input: -1, output: 1}}",
            1,
            "line 1: prices.'m'.input: Input should be greater than or equal to 0.",
        ),
        ("prices: {m: {input: nan, output: 1}}", 1, "line 1: prices.'m'.input: Input should be a"),
        (
            "prices: {m: {input: 1e9, output: 1}}",
            1,
            "line 1: prices.'m'.input: Input should be less than or equal to 100000.",
        ),
        ("owners: {a b: c}", 1, "line 1: owners.'a b': an owner must be a login such as octocat, or a team such as"),
        ("protected-paths: ['[z-a]']", 1, "line 1: protected-paths: it is not a valid gitignore pattern"),
        ("reproduce: {languages: {go: {file: a.go}}}", 1, "line 1: reproduce.languages.'go'.run: Field required."),
        (
            "reproduce: {image: x, languages: {go: {fiel: a.go, file: a.go, run: x}}}",
            1,
            "line 1: reproduce.languages.'go'.'fiel' is not a known key (did you mean file?).",
        ),
        ("reproduce: {image: x, languages: {go: {file: /a.go, run: x}}}", 1, "line 1: reproduce.languages.'go'.file: "),
        (
            "reproduce: {languages: {go: {file: a.go, run: x}}}",
            1,
            "line 1: reproduce.languages: image must name the image that they are run in.",
        ),
        (
            "reproduce: {setup: make, image: x, languages: {go: {file: a.go, run: x}}}",
            1,
            "line 1: reproduce.languages: each has its own setup: ",
        ),
        ("reproduce: {image: 'a b'}", 1, "line 1: reproduce.image: "),
        ("modules: {api: src/}", 1, "line 1: modules.'api': Input should be a valid dictionary"),
        ("modules:\n  api:\n    paths: [../x]", 1, "line 1: modules.'api'.paths: it must be a folder or file of the"),
        (
            "modules: {api: {paths: [a], path: [x]}}",
            1,
            "line 1: modules.'api'.'path' is not a known key (did you mean paths?)",
        ),
        (
            f"instructions: {'x' * (MAX_INSTRUCTION_CHARS + 1)}",
            1,
            "line 1: instructions: String should have at most 4000 characters",
        ),
        ("past-issues: 2000", 1, "line 1: past-issues: Input should be less than or equal to 1000."),
        (f"ignore: [{'a, ' * 101}]", 1, "line 1: ignore: List should have at most 100 items"),
        ("ignore: [a]\nlabels:\nignore: [b]", 3, "line 3: this YAML cannot be used (duplicate key 'ignore')."),
        ("[a]: b", 1, "line 1: this YAML cannot be used (found unhashable key)."),
        (
            "labels: !!python/object/apply:os.system [ls]",
            1,
            "line 1: this YAML cannot be used (tags and aliases are not allowed); put text that begins with *, &, !",
        ),
        (
            "ignore:\n  - !keep/",
            2,
            "line 2: this YAML cannot be used (tags and aliases are not allowed); put text that",
        ),
        ("ignore:\n  - *.py", 2, "line 2: this YAML cannot be used (expected alphabetic or numeric character, but fo"),
        ("ignore: [a", 1, "line 1: this YAML cannot be used (expected ',' or ']', but got '<stream end>')."),
        ("a: b\n---\nc: d", 2, "line 2: this YAML cannot be used (but found another document)."),
        ("- a", 1, "line 1: the file needs keys: ignore, labels, "),
        ("a: \x07", 1, "line 1: YAML does not allow a character in this line."),
        ("a: [[[[[[[", 1, "line 1: this YAML cannot be used (more than 6 levels of nesting)."),
        (b"a: b\nb: \xff", 2, "line 2: this is not UTF-8 text."),
        (b" " * (MAX_CONFIG_BYTES + 1), 1, "line 1: the file has 65,537 bytes; 65,536 are allowed."),
    ],
)
def test_an_error_has_its_line_and_what_is_allowed(text: str | bytes, line: int, said: str):
    message = refusal(text)
    assert message[0] == line
    assert message[1].startswith(said)


def test_all_errors_are_reported_in_order():
    line, said = refusal("ingore: []\nprices: {m: {input: x}}\nlabels: {allow: x}\n")
    assert line == 1
    assert [part.partition(":")[0] for part in said.split("; ")] == ["line 1", "line 2", "line 2", "line 3"]


def test_many_errors_are_counted():
    _, said = refusal("".join(f"key{number}: 1\n" for number in range(500)))
    assert said.count("line ") == MAX_PROBLEMS
    assert said.endswith("; and 490 more.")


def test_content_of_the_file_is_escaped_in_messages():
    line, said = refusal('"\\e[31m::error::\\nx": 1')
    assert line == 1
    assert said.startswith(r"line 1: '\x1b[31m::error::\nx' is not a known key")


@each_row(
    "text",
    [
        "[" * 60_000,
        "- " * 30_000,
        "a: &a [x]\n" + "b: [*a, *a]\n" * 5_000,
        "".join(f"k{number}: {{a: b}}\n" for number in range(2_000)),
        "ignore: [" + "a, " * 10_000 + "]",
        '"\\u0041' * 8_000,
        "a: |\n" + " \n" * 30_000,
        "%TAG ! x\n" * 6_000,
    ],
)
def test_a_hostile_file_is_refused(text: str):
    refusal(text)


ODD = st.text(
    st.sampled_from([*"abeginorlst-:[]{},#&*!|>'\"%@`?~. \n\t0", "\x00", "é", "\U0001f600", "\ufeff"]), max_size=200
)
LINES = st.lists(st.one_of(st.sampled_from(WHOLE.splitlines()), ODD), max_size=20).map("\n".join)


@settings(max_examples=100, deadline=None)
@given(st.one_of(ODD.map(str.encode), LINES.map(str.encode), st.binary(max_size=300)))
def test_any_bytes_are_settings_or_refused_in_one_line(data: bytes):
    words, line = "Fine.", 1
    try:
        parse_project_config(data, PATH)
    except BadConfig as error:
        words, line = str(error), error.line
    assert words.isprintable()
    assert words.endswith(".")
    assert 1 <= line <= data.decode("utf-8", "replace").count("\n") + data.decode("utf-8", "replace").count("\r") + 2


def editor_takes(text: str) -> bool:
    """By the published schema."""
    schema = json.loads((ROOT / "docs/triage.schema.json").read_text(encoding="utf-8"))
    return bool(Draft202012Validator(schema).is_valid(yaml.safe_load(text)))


@pytest.mark.parametrize(
    "wrong", ["ingore: []", "labels: {alow: []}", "prices: {m: {input: 1}}", "ignore: docs", "instructions: [a]"]
)
def test_editors_refuse_what_is_refused_here(wrong: str):
    refusal(wrong)
    assert not editor_takes(wrong)


def test_the_example_on_the_page_has_every_key_and_is_valid():
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    example = page.partition("# .github/triage.yml\n")[2].partition("```")[0]
    assert set(read(example).model_dump(exclude_defaults=True, by_alias=False)) == set(ProjectConfig.model_fields)
    assert editor_takes(example)
