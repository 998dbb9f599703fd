"""Counters for Prometheus. Labels hold names out of fixed lists, never a text, a hash or a user."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from engine.wire import AskResponse, Origin

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "anamnesis_http_requests",
            "Requests by route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "anamnesis_http_request_seconds",
            "Duration of requests.",
            ["route"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._answers = Counter(
            "anamnesis_answers",
            "Answers by chat and outcome.",
            ["chat", "outcome", "origin", "lang"],
            registry=self.registry,
        )
        self._guards = Counter(
            "anamnesis_guardrail",
            "What rules and judge decided.",
            ["status", "judge"],
            registry=self.registry,
        )
        self._stages = Histogram(
            "anamnesis_stage_seconds",
            "Duration of a stage of an answer.",
            ["stage"],
            buckets=_SECONDS,
            registry=self.registry,
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def answer(self, response: AskResponse, origin: Origin) -> None:
        self._answers.labels(response.chat, response.outcome, origin, response.lang).inc()
        self._guards.labels(response.guardrail.status, response.guardrail.judge).inc()
        for stage in response.trace.stages:
            self._stages.labels(stage.name).observe(stage.ms / 1000)

    def render(self) -> bytes:
        """The text that a scraper reads."""
        return generate_latest(self.registry)
