"""Checkouts whose files have names that are more than names, and links that lead out."""

from collections.abc import Sequence
from pathlib import Path

from testing.checkouts.git_objects import FILE, FOLDER, ObjectStore, Row
from testing.checkouts.git_repositories import commit, git, write
from testing.checkouts.hostile_base import PRIVATE, SOURCES, make_checkout, outside_folder
from testing.runs.sample_bug import BASKET

NAMES: Sequence[bytes] = (
    b"new\nline.py",
    b"carriage\rreturn.py",
    b"tab\t.py",
    b"::error::basket.py",
    b"\n::add-mask::basket.py",
    b"##[error]basket.py",
    b"\x1b[31mred\x1b]8;;mailto:x@evil.example\x07.py",
    b"\x00\x01"[1:] + b"control\x7f\xc2\x85.py",
    b"not-utf8-\xff\xfe.py",
    b"half-\xed\xa0\x80.py",
    b"-n1",
    b"--output=x",
    b"--help",
    b":(glob)**",
    b":!basket.py",
    b"*",
    b"$(touch sprung).py",
    b"`touch sprung`.py",
    b"; touch sprung; .py",
    b"${{ github.token }}.py",
    b"%0A%0D::error::x.py",
    b"back\\slash\\..\\basket.py",
    b"C:\\windows\\basket.py",
    b"CON",
    b"nul.py",
    b"trailing dot.",
    b"trailing space.py ",
    b" leading.py",
    b"Basket.py",
    b"BASKET.PY",
    "caf\u00e9.py".encode(),
    "cafe\u0301.py".encode(),
    "\u202egnp.yp.basket.py".encode(),
    "zero\u200bwidth\u2060\ufeff.py".encode(),
    "tag\U000e0041\U000e0042.py".encode(),
    b"[link](https:",
    b"](",
    b"![x](http:x).py",
    b"<img src=x>.py",
    b"<!-- hidden -->.py",
    b"@octocat.py",
    b"#1 fixes.py",
    b"a|b||c.py",
    b"a`b``c```.py",
    b"hash#and?query=1&x.py",
    b"\xf0\x9f\x98\x80.py",
    b"x" * 251 + b".py",
    b".py",
    b"...",
    b"~",
    b"<|untrusted|>",
    b"```",
)
"""Names of one part, as git stores them."""


def _shop(objects: ObjectStore, rows: Sequence[Row]) -> None:
    """A commit of these entries, in `shop` beside the basket and at the root."""
    basket = objects.blob(BASKET.encode())
    shop = objects.tree([(FILE, b"basket.py", basket), *rows])
    objects.commit(objects.tree([*rows, (FOLDER, b"shop", shop)]))


def odd_names(root: Path) -> None:
    objects = ObjectStore(root)
    _shop(objects, [(FILE, name, objects.blob(BASKET.encode() + b"# " + name)) for name in NAMES])


def odd_refs(root: Path) -> None:
    """Branches and tags that read as options, and a branch named HEAD."""
    make_checkout(root)
    head = git(root, "rev-parse", "HEAD")
    refs = "".join(f"{head} {ref}\n" for ref in ("refs/heads/-n1", "refs/heads/HEAD", "refs/tags/--output=x"))
    (root / ".git/packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{refs}")
    (root / ".git/HEAD").write_text("ref: refs/heads/-n1\n")


_TARGETS = {
    "env.py": "/proc/self/environ",
    "event.json": "../temp/event.json",
    "passwd.py": "/etc/passwd",
    "up.py": "../../../../../../etc/hostname",
    "loop.py": "loop.py",
    "loop": ".",
    "etc": "/etc",
    "dangling.py": "nowhere",
    "outside": "{outside}",
    "secret.py": "{outside}/secret.py",
    ".github/triage.yml": "{outside}/secret.py",
    ".github/CODEOWNERS": "{outside}/secret.py",
    ".github/ISSUE_TEMPLATE/bug.yml": "{outside}/secret.py",
    ".triage": "{outside}",
}


def _link(root: Path) -> None:
    write(outside_folder(root), {"secret.py": PRIVATE["private.py"]})
    for name, target in _TARGETS.items():
        link = root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target.format(outside=outside_folder(root)))


def links(root: Path) -> None:
    write(root, SOURCES)
    _link(root)
    (root / ".github/triage.yml").unlink()  # which ends a run, with a reason: see `settings_as_link`
    commit(root)


def settings_as_link(root: Path) -> None:
    write(root, SOURCES)
    _link(root)
    commit(root)
