"""How the paragraphs of the writer's draft are told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from triage.agents.writer import CommentDraft, parse_comment_draft

WHOLE = CommentDraft(why="It is so.\nAnd so.", fix_idea="Do this.", check="Try that.")


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ("Why: It is so.\nAnd so.\nFix idea: Do this.\nCheck: Try that.", WHOLE),
        ("**Why.** It is so.\nAnd so.\n\n**Fix idea.** Do this.\n\n**Check.** Try that.", WHOLE),
        ("- WHY: It is so.\nAnd so.\n- fix idea: Do this.\n- check: Try that.", WHOLE),
        ("## Why:\nIt is so.\nAnd so.\n## Fix idea:\nDo this.\n## Check:\nTry that.", WHOLE),
        ("**Why:** It is so.\nAnd so.\n**Fix idea:** Do this.\n**Check:** Try that.", WHOLE),
        ("**Root cause:** It is so.\nAnd so.\n\n**Suggested fix:** Do this.\n\n**How to verify:** Try that.", WHOLE),
        ("1. Why - It is so.\nAnd so.\n2. Fix idea - Do this.\n3. Check - Try that.", WHOLE),
        ("## Why it happens\n\nIt is so.\nAnd so.\n\n## Proposed fix\n\nDo this.\n\n## Test\n\nTry that.", WHOLE),
        ("- **Why**: It is so.\nAnd so.\n- **Fix**: Do this.\n- **Check**: Try that.", WHOLE),
        ("Why:\n- It is so.\n- And so.\nFix idea: **Do** this.\nCheck: Try that.", WHOLE),
        ("**Why:** It is so.\nAnd so. **Fix idea:** Do this. **Check:** Try that.", WHOLE),
        ("| Why | It is so.\nAnd so. |\n| Fix idea | Do this. |\n| Check | Try that. |", WHOLE),
        ("```markdown\nWhy: It is so.\nAnd so.\nFix idea: Do this.\nCheck: Try that.\n```", WHOLE),
        ("Why: `a**b` and `**c**`", CommentDraft(why="`a**b` and `**c**`")),
        ("Test the parser. Fix this. Then go.", CommentDraft(why="Test the parser. Fix this. Then go.")),
        ("It is so.", CommentDraft(why="It is so.")),
        ("Why does it fail? Nobody knows.", CommentDraft(why="Why does it fail? Nobody knows.")),
        ("Check whether it is so, then why.", CommentDraft(why="Check whether it is so, then why.")),
        ("Why: one\nWhy: two", CommentDraft(why="one")),
        ("Fix idea: Do this.", CommentDraft(fix_idea="Do this.")),
        ("", CommentDraft()),
    ],
)
def test_labels_in_the_forms_that_models_write(text: str, draft: CommentDraft):
    assert parse_comment_draft(text) == draft


@given(st.text(max_size=300))
def test_any_text_is_a_draft(text: str):
    parse_comment_draft(text)


@pytest.mark.parametrize("piece", ["Why: x\n", "**a", "**`a` ", ". **why", " " * 50, "*" * 50, "why\n", "> - "])
def test_linear_in_the_text(piece: str):
    assert_grows_linearly(repeat_to(piece), parse_comment_draft)
