"""Settings for all tests."""

from hypothesis import settings

# A busy machine must not fail a test: how cost grows is tested by `testing.cost_growth`.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")
