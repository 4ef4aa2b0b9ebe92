"""Past issues as a person sees them on their pages."""

from triage.domain.past_issues import PastIssue
from triage.issue.visible_text.visible_text import extract_visible_line, extract_visible_page


def make_visible(issue: PastIssue) -> PastIssue:
    """Return the issue with the visible text of its title and body, and with likely secrets masked.

    Takes about a millisecond.
    """
    return issue.model_copy(
        update={
            "title": extract_visible_line(issue.title)[0],
            "body": extract_visible_page(issue.body).text,
            "fixes": [fix.model_copy(update={"title": extract_visible_line(fix.title)[0]}) for fix in issue.fixes],
        }
    )
