"""One question and its answer."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from engine.wire.fields import Lang, Length, Question, Text, User

ChatName = Literal["auto", "medical", "personal", "work"]
Origin = Literal["app", "test_chat", "eval", "cli"]
Outcome = Literal[
    "answered",
    "abstained",
    "escalated",
    "refused",
    "blocked",
    "ungrounded",
    "guard_error",
    "nothing_saved",
]


class Strict(BaseModel):
    """A request part: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid")


class Turn(Strict):
    """One earlier message of the dialogue."""

    role: Literal["user", "assistant"]
    text: Annotated[Text, Length(20_000)]


MAX_TURNS = 100
"""Most earlier messages that are accepted; how many are looked at is decided where they are used."""

History = Annotated[list[Turn], Field(max_length=MAX_TURNS)]


class Profile(Strict):
    """What the app knows of the user's person."""

    age: int | None = Field(default=None, ge=0, le=130)
    sex: Literal["female", "male"] | None = None


Name = Annotated[Text, Length(120, least=1)]


class Biomarker(Strict):
    """A measured value of the user's own, with the range printed on the report."""

    name: Name
    value: float = Field(allow_inf_nan=False)
    unit: Annotated[Text, Length(40)] = ""
    ref_low: float | None = Field(default=None, allow_inf_nan=False)
    ref_high: float | None = Field(default=None, allow_inf_nan=False)
    at: AwareDatetime | None = None


Words = Annotated[Text, Length(500)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Context(Strict):
    """What the app knows at the moment of the question; every part is optional."""

    profile: Profile = Field(default_factory=Profile)
    biomarkers: list[Biomarker] = Field(default_factory=list, max_length=200)
    values: dict[Name, Finite | Words] = Field(default_factory=dict, max_length=50)
    task: dict[str, Any] = Field(default_factory=dict, max_length=50)


class AskRequest(Strict):
    """A question put to one of the chats."""

    question: Question
    chat: ChatName = "auto"
    user: User | None = None
    now: AwareDatetime | None = None
    lang: Lang | None = None
    history: History = Field(default_factory=list)
    context: Context = Field(default_factory=Context)


class Citation(BaseModel):
    """A source that the answer cites as `[n]`; title and url are a snapshot."""

    n: int
    document: str
    title: str
    url: str


class Guardrail(BaseModel):
    """What the output guards decided about an answer."""

    status: Literal["ok", "blocked", "rewritten", "ungrounded", "not_run"] = "not_run"
    rule_ids: list[str] = Field(default_factory=list)
    judge: Literal["ok", "blocked", "rewritten", "ungrounded", "judge_error", "off"] = "off"


class TraceStage(BaseModel):
    """One stage of the pipeline; `detail` holds numbers and ids, never a text of the user's."""

    name: str
    ms: float
    detail: dict[str, Any] = Field(default_factory=dict)


class Trace(BaseModel):
    """How an answer came about: stages in order, tokens by use, models by part."""

    stages: list[TraceStage] = Field(default_factory=list)
    tokens: dict[str, int] = Field(default_factory=dict)
    models: dict[str, str] = Field(default_factory=dict)


class AskResponse(BaseModel):
    """An answer, or why there is none; `text` is what is shown in either case."""

    outcome: Outcome
    text: str
    final_text: str
    """The answer that was let through; empty unless the outcome is `answered`."""
    lang: Lang
    chat: Annotated[str, Field(pattern="^(medical|personal|work)$")]
    intent: str | None = None
    citations: list[Citation] = Field(default_factory=list)
    guardrail: Guardrail = Field(default_factory=Guardrail)
    trace: Trace = Field(default_factory=Trace)
