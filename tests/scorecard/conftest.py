"""The golden files' fixture."""

from tests.publish.conftest import golden

__all__ = ["golden"]
