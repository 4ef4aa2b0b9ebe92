"""Parses `.github/triage.yml`, and reports every error with its line."""

from pydantic import BaseModel

from triage.base.errors import BadConfig
from triage.base.strict_yaml import InvalidYaml, decode_strictly, list_problems, parse_strictly
from triage.domain.project_config import (
    Labels,
    LanguageConfig,
    ModuleConfig,
    Price,
    ProjectConfig,
    ReproduceConfig,
)

MAX_BYTES = 64 * 1024


def parse_project_config(data: bytes, path: str) -> ProjectConfig:
    """The settings in a file's bytes. Raises BadConfig: one line that has every error with its line."""
    try:
        sections: dict[str | int, type[BaseModel]] = {
            "labels": Labels,
            "prices": Price,
            "modules": ModuleConfig,
            "reproduce": ReproduceConfig,
            "languages": LanguageConfig,
        }
        return parse_strictly(decode_strictly(data, MAX_BYTES), ProjectConfig, sections) or ProjectConfig()
    except InvalidYaml as error:
        raise BadConfig(
            path, error.problems[0].line, f"{path} cannot be used: {list_problems(error.problems)}."
        ) from None
