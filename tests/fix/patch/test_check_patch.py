"""A patch with any problem is not shown, and each problem says what to do. What is only unusual is a warning."""

from testing.each_row import each_row
from testing.fake_files import FakeFiles
from tests.fix.patch.patches import make_patch
from triage.domain.proposal import MAX_FILES, PatchedFile, TextFile
from triage.fix.patch.check_patch import MAX_CHANGED_LINES, check_patch, list_warnings
from triage.fix.patch.modules import Module

BASKET = "def total(items):\n    return sum(items)\n"
KEY = "AKIA" + "Q3EGRXT5UV2MWZ4A"
FILES = FakeFiles(
    {
        "shop/basket.py": TextFile(text=BASKET),
        "shop/win.py": TextFile(text="a = 1\r\nb = 2\r\n"),
        "shop/end.py": TextFile(text="a = 1"),
        "shop/mixed.py": TextFile(text="a = 1\r\nb = 2\n"),
        "shop/broken.py": TextFile(text="f((\n"),
        "shop/mark.py": TextFile(text="\ufeffa = 1\n"),
        "shop/odd.py": TextFile(text='a = "\u202e"\nsee("https://known.io/a")\n'),
        "shop/long.py": TextFile(text="x = 1\n" * 5_000),
        "shop/empty.py": TextFile(text=""),
        "shop/keys.py": TextFile(text=f'KEY = "{KEY}"\nx = 1\n'),
        "web/a.py": TextFile(text="x\n"),
        "tests/test_basket.py": TextFile(text="def test_total():\n    assert True\n"),
    }
)
MODULES = [
    Module(name="shop/", paths=["shop/"]),
    Module(name="web/", paths=["web/"]),
]


def change(path: str, text: str, *, is_new: bool = False) -> PatchedFile:
    return PatchedFile(path=path, text=text, is_new_file=is_new)


GOOD = change("shop/basket.py", BASKET.replace("sum(items)", "sum(items or ())"))
TEST = change("tests/test_basket.py", "def test_total():\n    assert total(None) == 0\n")


def check(*changes: PatchedFile, tests: tuple[PatchedFile, ...] = (), **fields: object) -> list[str]:
    return check_patch(make_patch(changes, tests, **fields), FILES, MODULES, ["shop/secret/"])


@each_row(
    "changes",
    [
        [GOOD],
        [change("shop/__init__.py", "", is_new=True)],
        [change("shop/win.py", "a = 1\r\nb = 3\r\n")],
        [change("shop/end.py", "a = 1\nb = 2")],
        [change("shop/broken.py", "g((\n")],
        [change("shop/mark.py", "\ufeffa = 2\n")],
        [change("shop/mark.py", "a = 2")],
        [change("shop/empty.py", "a = 1\n")],
        [change("shop/odd.py", 'see("https://known.io/a")\nsee("https://example.com/")\na = "\u202e"\n')],
        [change("shop/basket.py", BASKET + "# 👩‍💻 ✔️ é\n")],
    ],
)
def test_good_patches_have_no_problems(changes: list[PatchedFile]):
    assert check(*changes) == []
    assert check(*changes, tests=(TEST,)) == []


@each_row(
    ("changed", "problem"),
    [
        (change("shop/basket.py", BASKET), "shop/basket.py is not changed: leave it out."),
        (change("shop/basket.py", ""), "would be empty: a patch cannot remove files"),
        (change("shop/basket.py", BASKET + "f(\n"), "would have 1 syntax errors instead of 0"),
        (change("shop/broken.py", "f(((\n"), "would have 3 syntax errors instead of 2"),
        (change("shop/basket.py", BASKET.replace("\n", "\r\n")), "would have CRLF instead of LF"),
        (change("shop/basket.py", BASKET + "x = 1\r\n"), "would have line ends of several kinds instead of LF"),
        (change("shop/mixed.py", "a = 1\r\nb = 3\n"), "would have line ends of several kinds"),
        (change("shop/new.py", "a = 2\r\n", is_new=True), "would have CRLF instead of LF"),
        (change("shop/basket.py", BASKET + "a\0\n"), "(U+0000)"),
        (GOOD.model_copy(update={"text": BASKET + "# \ud800\n"}), "(U+D800)"),
        (change("shop/basket.py", BASKET + "p\u0430id = 1\n"), "words of two scripts that look alike"),
        (change("shop/basket.py", BASKET + "# \u202e\n"), "nobody can see in lines that are new (U+202E)"),
        (change("shop/basket.py", BASKET + "a\u00a0= 1\u200b\n"), "(U+00A0, U+200B)"),
        (change("shop/new.py", "\ufeffa = 2\n", is_new=True), "(U+FEFF)"),
        (change("shop/odd.py", 'b = "\u202e"\nsee("https://known.io/a")\n'), "(U+202E)"),
        (change("shop/basket.py", BASKET + f'KEY = "{KEY}"\n'), "looks like a secret in line 3"),
        (change("shop/keys.py", f'KEY = "{KEY}"\nx = 2\n'), "it is a file with what looks like a secret"),
        (
            change("shop/basket.py", BASKET + "# https://evil.io/x\n"),
            "an address that was not there ('https://evil.io/x')",
        ),
        (change("shop/odd.py", 'see("https://known.io/b")\n'), "an address that was not there"),
        (change("shop/basket.py", "# @generated\n" + BASKET), "nobody edits by hand (generated)"),
        (change("web/a.py", "y\n"), "outside the modules that may change (shop/)"),
        (change("shop/secret/a.py", "y\n", is_new=True), "protected paths"),
        (change("shop/long.py", "y = 1\n" * 5_000), f"changes 10,000 lines; {MAX_CHANGED_LINES:,} are allowed"),
    ],
)
def test_a_file_with_a_problem_is_named(changed: PatchedFile, problem: str):
    (found,) = check(changed)
    assert problem in found
    assert found.startswith((changed.path, "The patch"))
    assert found.endswith(".")


def test_tests_are_checked_as_well():
    evil = change("tests/test_basket.py", "# https://evil.io\n")
    assert "address" in check(GOOD, tests=(evil,))[0]


def test_the_first_commit_has_tests_only():
    hidden = change("shop/end.py", "import os")
    assert check(GOOD, tests=(hidden,)) == [
        "shop/end.py is no test by its folder and name: list it with the changes, or give it a test's name."
    ]


@each_row(
    ("changes", "tests", "problem"),
    [
        ((GOOD, GOOD), (), "shop/basket.py is listed twice"),
        ((GOOD, TEST), (TEST,), "tests/test_basket.py is listed twice"),
        ((GOOD, change(TEST.path, TEST.text + "# shown\n")), (TEST,), "tests/test_basket.py is listed twice"),
        ((GOOD, TEST), (), "tests/test_basket.py is a test by its folder and name: list it with the tests."),
        ((), (), "The patch changes nothing"),
        ((change("shop/a", "a\n", is_new=True), change("shop/a/b.py", "b\n", is_new=True)), (), "a file and a folder"),
    ],
)
def test_lists_that_contradict_themselves_are_refused(
    changes: tuple[PatchedFile, ...], tests: tuple[PatchedFile, ...], problem: str
):
    assert any(problem in found for found in check(*changes, tests=tests))


def test_both_commits_together_have_few_files():
    tests = [change(f"tests/test_{number}.py", "x\n", is_new=True) for number in range(MAX_FILES)]
    assert check(GOOD, tests=tuple(tests)) == [f"The patch has 21 files; {MAX_FILES} are allowed: leave some out."]


def test_only_modules_of_the_repository_are_named():
    assert "no module of the repository" in check(GOOD, modules=["./"])[0]
    assert "names no module" in check(GOOD, modules=[])[0]


def test_another_base_commit_is_refused():
    assert check(GOOD, base="f" * 40) == [
        "The patch was made for commit ffffffffffff, not for 0123456789ab: make it again."
    ]


def test_the_summary_has_no_secret():
    assert check(GOOD, summary=f"Use {KEY}", root_cause=KEY, revision_words=KEY) == [
        f"The {name} has what looks like a secret: leave it out."
        for name in ("summary", "root_cause", "words of the revision")
    ]
    described = GOOD.model_copy(update={"description": KEY})
    assert check(described) == ["The description of shop/basket.py has what looks like a secret: leave it out."]


def test_all_problems_are_said_at_once():
    found = check(change("web/a.py", "y\n"), change("shop/basket.py", BASKET), GOOD, summary=KEY)
    assert [problem.partition(" ")[0] for problem in found] == ["shop/basket.py", "web/a.py", "shop/basket.py", "The"]


LINES = FakeFiles({"shop/a.py": TextFile(text="x = 1\n" * 150)})


def test_an_ordinary_patch_has_no_warning():
    assert list_warnings(make_patch([PatchedFile(path="shop/a.py", text="y = 1\n" * 150)]), LINES) == []


def test_a_large_patch_is_said():
    files = [
        PatchedFile(path="shop/a.py", text="y = 1\n" * 151),
        PatchedFile(path="shop/b.py", text="", is_new_file=True),
    ]
    assert list_warnings(make_patch(files), LINES) == ["Large diff: about 301 lines in 2 files."]


def test_more_than_two_modules_are_said():
    modules = ["a/", "b/", "c/"]
    patch = make_patch([PatchedFile(path="shop/b.py", text="", is_new_file=True)], modules=modules)
    assert list_warnings(patch, LINES) == ["Multi-module change: a/, b/, c/."]


def test_long_new_lines_are_said():
    long = PatchedFile(path="shop/a.py", text=f"x = '{'y' * 200}'\n")
    assert list_warnings(make_patch([long]), LINES) == ["Lines of more than 120 characters: shop/a.py."]
    tabs = PatchedFile(path="shop/a.py", text="\t" * 30 + "x\n")
    assert list_warnings(make_patch([tabs]), LINES) == ["Lines of more than 120 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": TextFile(text=long.text)})
    more = long.model_copy(update={"text": long.text + "z = 1\n"})
    assert list_warnings(make_patch([more]), known) == []


def test_lines_that_are_longer_than_any_of_the_file_are_said():
    line = f"init();{'        ;' * 13}evil()\n"
    many = PatchedFile(path="shop/a.py", text=line)
    assert list_warnings(make_patch([many]), LINES) == ["Lines of more than 120 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": TextFile(text=f"{line[:-1]}\n")})
    more = many.model_copy(update={"text": line.replace("evil", "good")})
    assert list_warnings(make_patch([more]), known) == []
