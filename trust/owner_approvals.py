"""Approvals of patches in a workflow with `approvers: owners`, and files of owners that cannot be read or resolved."""

from collections.abc import Iterator
from functools import partial

from testing.servers.github_api import SLUG, ApiFault
from trust.approval_case import Case
from trust.approval_world import FILE, FILES, MAINTAINER, TEST, ApprovalWorld

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
MANY = 60_000
REFUSED: dict[str, str | bytes] = {
    "somebody else": "* @hubot\n",
    "somebody else, for the test": f"* @{MAINTAINER}\n/{TEST} @hubot\n",
    "a team": "* @octo/core\n",
    "an e-mail address": "* hubot@example.com\n",
    "an e-mail address that begins like the login": f"* {MAINTAINER}@example.com\n",
    "no @": "* hubot\n",
    "no @, for the test": f"* @{MAINTAINER}\n/{TEST} hubot\n",
    "the login without @": f"* {MAINTAINER}\n",
    "an invalid owner beside the login": f"* @{MAINTAINER}, @hubot\n",
    "an invalid owner before the login": f"/{FILE} @hubot! @{MAINTAINER}\n",
    "a range, which CODEOWNERS does not know": f"* @{MAINTAINER}\n/shop/[a-c]asket.py @hubot\n",
    "a negation": f"* @{MAINTAINER}\n!/{FILE} @hubot\n",
    "an escape at the end": f"* @{MAINTAINER}\n/shop/basket.py\\\n",
    "another end of the line": f"* @hubot\u2028* @{MAINTAINER}\n",
    "too many rules": "* @hubot\n" + "".join(f"/x{number}/ @hubot\n" for number in range(MANY)),
    "more than 3 MB": "* @hubot\n" + "#\n" * 1_600_000,
    "no UTF-8": b"* @hubot \xff\n",
}
WITHOUT_DEFENCE = ("an e-mail address", "no @", "a negation", "too many rules", "not fetched")
ACCEPTED = {
    "the login": f"* @{MAINTAINER}\n",
    "the login beside others": f"* @hubot ops@example.com @{MAINTAINER.upper()}\n",
    "nobody": f"* @hubot\n/{FILE}\n/tests/ # nobody\n",
    "others own other files": "/docs/ @hubot\n",
    "an invalid line that a later one overrides": f"[ab] @hubot\n* @{MAINTAINER}\n",
}


def make_owners() -> Iterator[Case]:
    for place in PLACES:
        for name, text in REFUSED.items():
            yield Case("owner", f"{name}, {place}", partial(_approve, {place: text}))
        for name, text in ACCEPTED.items():
            yield Case("owner", f"{name}, {place}", partial(_approve, {place: text}), "once")
        yield Case("owner", f"a link, {place}", partial(_approve, {place: "../owners"}, mode="120000"))
        yield Case("owner", f"not fetched, {place}", partial(_approve, {place: "# none\n"}, hidden=True))
    both: dict[str, str | bytes] = {PLACES[0]: "* @hubot\n", PLACES[1]: f"* @{MAINTAINER}\n"}
    yield Case("owner", "two files", partial(_approve, both))
    yield Case("owner", "no file", partial(_approve, {}), "once")


def _approve(
    owners: dict[str, str | bytes], world: ApprovalWorld, *, mode: str = "100644", hidden: bool = False
) -> None:
    """Approves. The default branch has these files of owners; the checkout of the job never has one."""
    tree = {path: ("100644", world.git.store.put("blob", _encode(text))) for path, text in FILES.items()}
    tree |= {path: (mode, world.git.store.put("blob", _encode(text))) for path, text in owners.items()}
    world.git.set_ref("refs/heads/main", world.git.store_commit(world.git.store_tree(tree), [world.base], "x\n"))
    if hidden:
        ids = [sha for path, (_, sha) in tree.items() if path in owners]
        world.api.faults += [ApiFault(f"GET /repos/{SLUG}/git/blobs/{sha}", 404) for sha in ids]
    said = world.say(f"/triage approve {world.patch_id}")
    world.before = world.read_effects()
    world.run(world.write_event(said), task="fix-apply", approvers="owners")


def _encode(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
