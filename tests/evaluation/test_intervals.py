"""Intervals: against another implementation, by hand, and what holds for all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.evaluation.statistics import clustered_bootstrap, wilson

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
samples = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]), st.sampled_from("abcdef")), max_size=40)


@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_agrees_with_scipy(count: tuple[int, int], confidence: float) -> None:
    k, n = count
    ours = wilson(k, n, confidence)
    theirs = stats.binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_ten_of_ten_is_not_certain() -> None:
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


def test_nothing_counted_has_no_interval() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2)])
def test_a_count_that_cannot_be_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        wilson(k, n)


@given(counts)
def test_wilson_holds_the_share_within_0_and_1(count: tuple[int, int]) -> None:
    k, n = count
    interval = wilson(k, n)
    assert interval is not None
    assert 0 <= interval.low <= k / n <= interval.high <= 1


@given(counts)
def test_wilson_of_misses_mirrors_that_of_hits(count: tuple[int, int]) -> None:
    k, n = count
    hits, misses = wilson(k, n), wilson(n - k, n)
    assert hits is not None
    assert misses is not None
    assert (hits.low, hits.high) == pytest.approx((1 - misses.high, 1 - misses.low))


@given(counts)
def test_wilson_narrows_with_more_of_the_same(count: tuple[int, int]) -> None:
    k, n = count
    few, many = wilson(k, n), wilson(4 * k, 4 * n)
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


@given(samples, st.integers(0, 2**32))
def test_the_bootstrap_gives_the_same_for_the_same_whatever_the_order(
    sample: list[tuple[float, str]], seed: int
) -> None:
    def interval(pairs: list[tuple[float, str]]) -> object:
        return clustered_bootstrap([v for v, _ in pairs], [c for _, c in pairs], seed=seed, resamples=50)

    assert interval(sample) == interval(sample) == interval(sample[::-1])


@given(samples)
def test_the_bootstrap_stays_within_the_values(sample: list[tuple[float, str]]) -> None:
    values = [value for value, _ in sample]
    interval = clustered_bootstrap(values, [cluster for _, cluster in sample], seed=1, resamples=50)
    if interval is None:
        assert len({cluster for _, cluster in sample}) < 2
    else:
        assert min(values) <= interval.low <= interval.high <= max(values)


def test_the_bootstrap_agrees_with_the_normal_interval_where_every_case_is_a_cluster() -> None:
    values = [((7 * i) % 11) / 10 for i in range(200)]
    interval = clustered_bootstrap(values, range(200), seed=3)
    mean, error = sum(values) / 200, stats.sem(values)
    assert interval == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=0.01)


def test_the_bootstrap_agrees_with_scipys_over_clusters_of_one_size() -> None:
    means = [0.1, 0.4, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0]
    interval = clustered_bootstrap(
        [m for m in means for _ in range(5)], [c for c in range(8) for _ in range(5)], seed=1
    )
    theirs = stats.bootstrap(
        (means,), lambda x, axis: x.mean(axis=axis), n_resamples=4_000, method="percentile", rng=5
    ).confidence_interval
    assert interval == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_cases_that_hang_together_make_the_figure_less_sure() -> None:
    values = [float(topic % 2) for topic in range(20) for _ in range(8)]
    together = clustered_bootstrap(values, [topic for topic in range(20) for _ in range(8)], seed=1)
    apart = clustered_bootstrap(values, range(160), seed=1)
    assert together is not None
    assert apart is not None
    assert together.high - together.low > 2 * (apart.high - apart.low)


@pytest.mark.parametrize(("values", "clusters"), [([], []), ([0.5, 1.0], ["ferritin", "ferritin"])])
def test_fewer_than_two_clusters_have_no_interval(values: list[float], clusters: list[str]) -> None:
    assert clustered_bootstrap(values, clusters, seed=1) is None
