"""Every agent failing, and every pair of agents: a report comes out all the same."""

import pytest

from testing.faults.agent_faults import (
    ONE_AND_TWO,
    find_problems_without_models,
    find_problems_without_models_and_rules,
)
from triage.domain.findings import AgentName


@pytest.mark.parametrize("agents", ONE_AND_TWO, ids="+".join)
async def test_where_a_model_fails_rules_answer_and_the_report_says_so(agents: tuple[AgentName, ...]):
    assert await find_problems_without_models(agents) == []


@pytest.mark.parametrize("agents", ONE_AND_TWO, ids="+".join)
async def test_where_model_and_rules_fail_the_others_go_on(agents: tuple[AgentName, ...]):
    assert await find_problems_without_models_and_rules(agents) == []
