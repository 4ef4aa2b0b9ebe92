"""What stays of a thread that strangers have made long."""

from hypothesis import given
from hypothesis import strategies as st

from testing.text.pathological_text import SIZE
from triage.domain.issue import Issue, IssueComment
from triage.issue.long_threads import MAX_CHARS, MAX_COMMENTS, SHORTENED_CHARS, shorten_thread
from triage.issue.read_issue import read_issue_and_thread

WRITERS = st.sampled_from(["ada", "mallory", "eve", "bot", "us"])
SIZES = st.sampled_from([0, 10, SHORTENED_CHARS, SHORTENED_CHARS + 1, SIZE, MAX_CHARS, MAX_CHARS + 1])


def write(author: str, chars: int, number: int = 0) -> IssueComment:
    return IssueComment(
        author=author, body=f"{number} ".ljust(chars, "x"), by_bot=author in ("bot", "us"), ours=author == "us"
    )


def list_whole(thread: list[IssueComment]) -> list[str]:
    return [comment.body.split()[0] for comment in thread if not comment.is_shortened]


def test_a_usual_thread_stays_as_it_is():
    thread = [write("ada", 400), write("eve", 9_000), write("us", 20_000), write("eve", SIZE)]
    assert shorten_thread(thread, "ada") == thread


def test_the_newest_comments_of_others_stay_whole():
    thread = [write("mallory", SIZE, number) for number in range(300)]
    assert list_whole(shorten_thread(thread, "ada")) == ["296", "297", "298", "299"]


def test_many_small_comments_are_shortened_too():
    thread = [write("mallory", 5, number) for number in range(10_000)]
    assert len(list_whole(shorten_thread(thread, "ada"))) == MAX_COMMENTS


def test_strangers_cannot_shorten_what_the_reporter_and_we_wrote():
    thread = [write("ada", 9_000, 1), write("us", 9_000, 2), *(write("eve", SIZE, 3) for _ in range(300))]
    assert list_whole(shorten_thread(thread, "ada"))[:2] == ["1", "2"]


def test_a_small_comment_fits_beside_large_ones():
    thread = [write("eve", 100, 1), *(write("mallory", SIZE - 100, 2) for _ in range(5))]
    assert list_whole(shorten_thread(thread, "ada")) == ["1", "2", "2", "2", "2"]


@given(st.lists(st.builds(write, WRITERS, SIZES), max_size=12), st.integers(0, 12))
def test_a_page_at_a_time_keeps_no_more_than_all_at_once(thread: list[IssueComment], page: int):
    at_once = shorten_thread(thread, "ada")
    by_page = shorten_thread([*shorten_thread(thread[:page], "ada"), *thread[page:]], "ada")
    assert [comment.author for comment in by_page] == [comment.author for comment in thread]
    assert shorten_thread(at_once, "ada") == at_once
    for kept in (at_once, by_page):
        for is_reporter in (True, False):
            whole = [one for one in kept if not one.is_shortened and not one.ours]
            assert sum(len(one.body) for one in whole if (one.author == "ada") is is_reporter) <= MAX_CHARS
        assert all(len(one.body) <= SHORTENED_CHARS for one in kept if one.is_shortened)


def test_what_is_shortened_is_not_read():
    hidden = "<!-- " + "x" * SIZE + " orders -->"
    thread = [write("eve", 20, 7), *(write("mallory", SIZE, number) for number in range(300))]
    thread.insert(1, IssueComment(author="ada", body=hidden, is_shortened=True))
    parsed, read = read_issue_and_thread(Issue(title="t", author="ada", thread=thread))
    assert len(read) == 4
    assert parsed.comments_left_out == 297
    assert (parsed.body, parsed.hidden_fragments) == ("", 0)
