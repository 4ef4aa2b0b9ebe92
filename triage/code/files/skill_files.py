"""The project's skills, from the same commit as the code."""

from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from triage.code.git.commit import is_bare_repository, open_commit
from triage.code.git.git import GitError
from triage.code.git.plain_folder import FolderTree
from triage.code.git.tree import Entry, Listing, SourceTree
from triage.domain.skill import SKILL_FOLDER, BrokenSkill, Skill, Skills
from triage.issue.skill_file import MAX_BYTES, parse_skill

MAX_SKILLS = 30
"""Their descriptions stand in every prompt."""
_TOO_MANY = f"it is not read, nor is any after it: at most {MAX_SKILLS} skills are"
_MAX_FILES = 200
_DESCRIPTION = "README.md"
"""For people who look at the folder."""


def remove_skills(listing: Listing) -> Listing:
    """Return the listing without skills. Full of words of issues, they would be found in place of the code."""
    skills = {entry.path for entry in listing.entries if _is_skill_file(entry.path)}
    return (
        replace(listing, entries=[entry for entry in listing.entries if entry.path not in skills])
        if skills
        else listing
    )


def _is_skill_file(path: str) -> bool:
    if not path.startswith(SKILL_FOLDER):  # cheap, and rules out nearly all of a million names
        return False
    folder, _, name = path.rpartition("/")
    return folder == SKILL_FOLDER and name.endswith(".md") and name != _DESCRIPTION


def read_skills_at(root: Path) -> Skills:
    """Return the skills of HEAD's commit, or of the folder if there is no commit, without indexing anything."""
    try:
        return read_skills(open_commit(root.resolve()))
    except GitError:
        return Skills() if is_bare_repository(root) else read_skills(FolderTree(root.resolve()))


def read_skills(tree: SourceTree) -> Skills:
    """Return the skills of the tree. A file that cannot be used is named with its problem."""
    try:
        found = tree.list_folder(SKILL_FOLDER, _MAX_FILES)
    except GitError as error:
        return Skills(broken=[BrokenSkill(path=SKILL_FOLDER, problem=f"the folder cannot be read ({error})")])
    if isinstance(there := found.get(SKILL_FOLDER), str | Entry):
        what = there if isinstance(there, str) else "file"
        return Skills(broken=[BrokenSkill(path=SKILL_FOLDER, problem=f"it is a {what}: put a folder there")])
    named = {path: entry for path, entry in found.items() if _is_skill_file(path) and path.isprintable()}
    broken = [
        BrokenSkill(path=path, problem=_describe_entry(entry))
        for path, entry in named.items()
        if not isinstance(entry, Entry) or entry.size > MAX_BYTES
    ]
    readable = [entry for entry in named.values() if isinstance(entry, Entry) and entry.size <= MAX_BYTES]
    parsed = [
        parse_skill(entry.path, data)
        if data is not None
        else BrokenSkill(path=entry.path, problem="it cannot be read from the repository")
        for entry, data in tree.read(readable[:MAX_SKILLS])
    ]
    broken += [one for one in parsed if isinstance(one, BrokenSkill)]
    broken += [BrokenSkill(path=entry.path, problem=_TOO_MANY) for entry in readable[MAX_SKILLS : MAX_SKILLS + 1]]
    broken.sort(key=attrgetter("path"))
    return Skills(skills=[one for one in parsed if isinstance(one, Skill)], broken=broken)


def _describe_entry(entry: Entry | str) -> str:
    if isinstance(entry, str):
        return f"it is a {entry}: put a regular file there"
    return f"the file has {entry.size:,} bytes; {MAX_BYTES:,} are allowed"
