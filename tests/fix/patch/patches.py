"""A small patch, as the tests of patches change it."""

from collections.abc import Sequence

from testing.fakes import COMMIT
from triage.domain.proposal import Patch, PatchedFile


def make_patch(changes: Sequence[PatchedFile], tests: Sequence[PatchedFile] = (), **fields: object) -> Patch:
    patch = Patch(
        repository="octo/shop",
        issue=7,
        issue_title="Empty basket",
        issue_text_hash="0123456789abcdef",
        base=COMMIT,
        summary="Handle an empty basket",
        modules=["shop/"],
        changes=list(changes),
        tests=list(tests),
    )
    return patch.model_copy(update=fields)
