"""Failed sign-ins are counted inside a window, by name."""

from concurrent.futures import ThreadPoolExecutor

from console.lockout import TRIES, WINDOW, Lockout


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_name_is_locked_after_its_tries_and_free_after_the_window() -> None:
    clock = Clock()
    lockout = Lockout(clock=clock)
    assert [lockout.take("eva") for _ in range(TRIES)] == [0.0] * TRIES
    clock.now += 60
    assert lockout.take("eva") == WINDOW - 60
    assert lockout.take("adam") == 0.0
    clock.now += WINDOW - 60
    assert lockout.take("eva") == 0.0


def test_a_locked_name_is_not_locked_longer_by_more_tries() -> None:
    clock = Clock()
    lockout = Lockout(clock=clock)
    for _ in range(TRIES + 20):
        lockout.take("eva")
    clock.now += WINDOW
    assert lockout.take("eva") == 0.0


def test_success_forgets_failures() -> None:
    lockout = Lockout(clock=Clock())
    for _ in range(3 * TRIES):
        assert lockout.take("eva") == 0.0
        lockout.clear("eva")


def test_guesses_at_once_do_not_slip_through() -> None:
    lockout = Lockout(clock=Clock())
    with ThreadPoolExecutor(16) as pool:
        waits = list(pool.map(lambda _: lockout.take("eva"), range(64)))
    assert waits.count(0.0) == TRIES
