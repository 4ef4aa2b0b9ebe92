"""The strings that the harness tries."""

from trust.corpora import injection_templates, injections, markdown
from trust.measures.hidden_text import list_points


def test_the_corpora_are_large_enough():
    assert len(injections()) >= 1_500
    assert len(markdown()) >= 1_420
    assert len({case.text for case in injections()}) == len(injections())
    assert len(list_points()) > 4_000


def test_every_goal_is_found_in_every_wrapping():
    lost = [text for text in injection_templates.build_injections() if not injection_templates.find_goals(text)]
    assert lost == []
