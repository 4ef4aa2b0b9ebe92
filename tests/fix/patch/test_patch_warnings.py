"""A reader learns first what is unusual about a patch."""

from testing.fake_files import FakeFiles
from tests.fix.patch.drafts import make_draft
from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.patch.check_patch import list_warnings

FILES = FakeFiles({"shop/a.py": BaseFile(text="x = 1\n" * 150)})


def test_an_ordinary_patch_has_no_warning():
    assert list_warnings(make_draft([FileVersion(path="shop/a.py", text="y = 1\n" * 150)]), FILES) == []


def test_a_large_patch_is_said():
    files = [
        FileVersion(path="shop/a.py", text="y = 1\n" * 151),
        FileVersion(path="shop/b.py", text="", is_new_file=True),
    ]
    assert list_warnings(make_draft(files), FILES) == ["Large diff: about 301 lines in 2 files."]


def test_more_than_two_modules_are_said():
    modules = ["a/", "b/", "c/"]
    draft = make_draft([FileVersion(path="shop/b.py", text="", is_new_file=True)], modules=modules)
    assert list_warnings(draft, FILES) == ["Multi-module change: a/, b/, c/."]


def test_long_new_lines_are_said():
    long = FileVersion(path="shop/a.py", text=f"x = '{'y' * 200}'\n")
    assert list_warnings(make_draft([long]), FILES) == ["Lines of more than 120 characters: shop/a.py."]
    tabs = FileVersion(path="shop/a.py", text="\t" * 30 + "x\n")
    assert list_warnings(make_draft([tabs]), FILES) == ["Lines of more than 120 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": BaseFile(text=long.text)})
    more = long.model_copy(update={"text": long.text + "z = 1\n"})
    assert list_warnings(make_draft([more]), known) == []


def test_lines_that_are_longer_than_any_of_the_file_are_said():
    line = f"init();{'        ;' * 13}evil()\n"
    many = FileVersion(path="shop/a.py", text=line)
    assert list_warnings(make_draft([many]), FILES) == ["Lines of more than 120 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": BaseFile(text=f"{line[:-1]}\n")})
    more = many.model_copy(update={"text": line.replace("evil", "good")})
    assert list_warnings(make_draft([more]), known) == []
