"""Build the image without an engine, and start it: python -m tests.delivery.build, as root on Linux with Python 3.11.

`.ci/docker-steps.sh` runs this in a mount namespace of its own. A stage is an overlay over this machine's files, which
stands in for `python:3.11-slim`; every RUN is run in it by chroot and every COPY made, so nothing outside is touched.
What that cannot show: whether the libraries of the real base image suffice, and volumes, networks and limits of Docker.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from engine.storage.embedded import ConnectionUrls, EmbeddedPostgres
from tests.delivery.dockerfile import Stage, assignments, send_context, stages

ROOT = Path(__file__).parents[2]
PASSED_ON = re.compile(r"(?i)^(pip_.*|.*_proxy|ssl_cert_.*|requests_ca_bundle)$")
"""How this machine reaches its package index."""
CLEAN = ("app", "opt/venv", "models", "var/lib/anamnesis")
"""What must not be there before."""
KEYS = {f"ANAMNESIS_{name}_KEY": name.lower() * 12 for name in ("HASH", "JWT", "CONSOLE")}
PORT = "18710"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Container:
    """The files of one stage, and what its instructions have set."""

    def __init__(self, work: Path, name: str, base_python: Path) -> None:
        self.upper, self.root = work / name / "upper", work / name / "root"
        scratch = work / name / "work"
        for folder in (self.upper, self.root, scratch):
            folder.mkdir(parents=True)
        options = f"lowerdir=/,upperdir={self.upper},workdir={scratch}"
        run(["mount", "-t", "overlay", "overlay", "-o", options, str(self.root)])
        for folder in ("proc", "dev"):
            run(["mount", "--rbind", f"/{folder}", str(self.root / folder)])
        for folder in CLEAN:
            shutil.rmtree(self.root / folder, ignore_errors=True)
        for name in ("passwd", "group", "shadow", "gshadow"):  # a machine that ran `make up` as root has the user
            accounts = self.root / "etc" / name
            kept = [line for line in accounts.read_text(encoding="utf-8").splitlines(True) if "anamnesis" not in line]
            accounts.write_text("".join(kept), encoding="utf-8")
        (self.root / "root").chmod(0o755)  # the Python may lie there; on the overlay alone
        programs = self.root / "base" / "bin"
        programs.mkdir(parents=True)
        for program in ("python", "python3"):
            (programs / program).symlink_to(base_python)
        self.environment = {"PATH": "/base/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root"}
        self.environment |= {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
        self.arguments: dict[str, str] = {}
        self.folder = "/"
        self.user = "0:0"

    def command(self, words: Sequence[str], extra: dict[str, str] | None = None) -> list[str]:
        """The line that runs these words within."""
        given = [f"{name}={value}" for name, value in {**self.environment, **(extra or {})}.items()]
        inside = ["env", "-i", *given, "sh", "-c", 'cd "$0" && exec "$@"', self.folder, *words]
        return ["chroot", f"--userspec={self.user}", str(self.root), *inside]

    def step(self, word: str, rest: str, context: Path, others: dict[str, "Container"]) -> None:
        """Do what one instruction says."""
        if word == "ENV":
            self.environment |= {name: self._filled(value) for name, value in assignments(rest).items()}
        elif word == "ARG":
            self.arguments = {**assignments(rest), **self.arguments}
        elif word == "WORKDIR":
            self.folder = rest
            (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            self.user = rest
        elif word == "RUN":
            run(self.command(["sh", "-ec", rest], self.arguments), rest)
        elif word == "COPY":
            self._copy(rest, context, others)
        else:
            assert word in {"VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}, word

    def _filled(self, value: str) -> str:
        return re.sub(r"\$(\w+)", lambda found: self.environment.get(found[1], ""), value)

    def _copy(self, rest: str, context: Path, others: dict[str, "Container"]) -> None:
        *sources, target = rest.split()
        if sources[0].startswith("--from="):
            context = others[sources.pop(0).removeprefix("--from=")].root
        place = self.root / os.path.join(self.folder, target).lstrip("/")  # noqa: PTH118 - an absolute target wins
        for source in sources:
            found = context / source.strip("/")
            if found.is_dir():
                shutil.copytree(found, place, symlinks=True, dirs_exist_ok=True)
            elif target.endswith("/"):
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, place)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, place)

    def close_root(self) -> None:
        """As compose runs it: nothing but the volumes and /tmp can be written."""
        for folder, owner in (("tmp", "0"), ("models", "10001"), ("var/lib/anamnesis", "10001")):
            options = f"uid={owner},gid={owner},mode={'1777' if folder == 'tmp' else '700'}"
            run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.root / folder)])
        run(["mount", "-o", "remount,ro", str(self.root)])

    def open_root(self) -> None:
        run(["mount", "-o", "remount,rw", str(self.root)])


def run(words: Sequence[str], told: str = "") -> None:
    """Raises where a command fails; what it says is shown then, and `told` in place of a line with the environment."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"failed ({done.returncode}): {told or ' '.join(words)}\n{done.stdout}{done.stderr}")


def build(work: Path, arguments: dict[str, str], corpus: Path | None, base_python: Path) -> tuple[Container, Stage]:
    """All stages in their order; the last is the image."""
    context = work / "context"
    send_context(ROOT, context)
    if corpus is not None:
        shutil.rmtree(context / "corpus")
        shutil.copytree(corpus, context / "corpus")
    made: dict[str, Container] = {}
    for stage in stages((ROOT / "Dockerfile").read_text(encoding="utf-8")):
        made[stage.name] = container = Container(work, stage.name, base_python)
        container.arguments = dict(arguments)
        for word, rest in stage.steps:
            began = time.monotonic()
            container.step(word, rest, context, made)
            say(f"{time.monotonic() - began:6.1f} s  {stage.name}: {word} {rest[:90]}")
        last = stage
    return container, last


class Started:
    """The entrypoint, running as the image's user."""

    def __init__(self, container: Container, image: Stage, environment: dict[str, str], log: Path) -> None:
        said = dict(image.steps)
        self._health = json.loads(said["HEALTHCHECK"].partition("CMD ")[2])
        self._container, self._environment, self._log = container, environment, log
        words = json.loads(said["ENTRYPOINT"]) + json.loads(said["CMD"])
        self._began = time.monotonic()
        with log.open("w", encoding="utf-8") as out:
            self._process = subprocess.Popen(
                container.command(words, environment), stdout=out, stderr=subprocess.STDOUT
            )

    def wait_until_healthy(self, seconds: float) -> float:
        """Seconds until the image's own check was content."""
        while time.monotonic() - self._began < seconds:
            if self._process.poll() is not None:
                raise SystemExit(f"ended by itself:\n{self._log.read_text(encoding='utf-8')}")
            check = self._container.command(self._health, self._environment)
            if subprocess.run(check, capture_output=True, check=False).returncode == 0:
                return time.monotonic() - self._began
            time.sleep(0.5)
        self.stop()
        raise SystemExit(f"not healthy:\n{self._log.read_text(encoding='utf-8')}")

    def stop(self) -> str:
        """Ask it to end, as `docker stop` does; what it has said."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(30)
        assert code in {0, -signal.SIGTERM, 143}, code
        return self._log.read_text(encoding="utf-8")


def stored_at(admin_url: str) -> dict[str, str]:
    """When each document was written."""
    engine = sa.create_engine(admin_url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        return {
            name: str(at) for name, at in connection.exec_driver_sql("SELECT name, created_at FROM knowledge.document")
        }


def _within(url: str) -> str:
    """The same server where the container has its socket."""
    return sa.engine.make_url(url).update_query_dict({"host": "/database"}).render_as_string(hide_password=False)


def try_image(container: Container, image: Stage, urls: ConnectionUrls, work: Path, patience: float) -> None:
    """Three starts: into an empty database, again, and with one document changed."""
    environment = {f"ANAMNESIS_{role.upper()}_URL": _within(url) for role, url in vars(urls).items()}
    environment |= KEYS | {"ANAMNESIS_API_PORT": PORT, "ANAMNESIS_API_HOST": "127.0.0.1"}

    def start(label: str) -> tuple[str, dict[str, str]]:
        started = Started(container, image, environment, work / "log")
        seconds = started.wait_until_healthy(patience)
        said = started.stop()
        seeded = re.findall(r"\d+ added, \d+ changed, \d+ removed, \d+ unchanged", said)
        assert len(seeded) == 1, said
        say(f"{label}: healthy after {seconds:.1f} s; {seeded[0]}")
        return seeded[0], stored_at(urls.admin)

    container.close_root()
    seeded, first = start("first start")
    assert seeded == f"{len(first)} added, 0 changed, 0 removed, 0 unchanged"
    seeded, again = start("second start")
    assert seeded == f"0 added, 0 changed, 0 removed, {len(first)} unchanged"
    assert again == first
    container.open_root()
    changed = sorted((container.root / "app" / "corpus" / "en").glob("*.md"))[0]
    changed.write_text(changed.read_text(encoding="utf-8").rstrip() + " Ask there what comes next.\n", encoding="utf-8")
    run(["mount", "-o", "remount,ro", str(container.root)])
    seeded, then = start("one document changed")
    assert seeded == f"0 added, 1 changed, 0 removed, {len(first) - 1} unchanged"
    assert {name for name in first if then[name] != first[name]} == {f"{changed.stem}.en"}


def main() -> None:
    """Steps, then starts; the exit code says whether all went well."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--corpus", type=Path, help="another corpus than the checkout's")
    options.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    options.add_argument("--base-python", type=Path, default=Path(getattr(sys, "_base_executable", sys.executable)))
    options.add_argument("--patience", type=float, default=900, help="seconds for one start")
    given = options.parse_args()
    work = Path(tempfile.mkdtemp(prefix="anamnesis-image-", dir="/var/tmp"))
    work.chmod(0o755)
    server = EmbeddedPostgres(work / "server")
    try:
        arguments = dict(one.partition("=")[::2] for one in given.build_arg)
        container, image = build(work, arguments, given.corpus, given.base_python.resolve())
        size = subprocess.run(["du", "-sm", str(container.upper)], capture_output=True, text=True, check=True)
        say(f"{size.stdout.split()[0]} MB over the base image")
        urls = server.start()
        socket = Path(str(sa.engine.make_url(urls.admin).query["host"]))
        # The image's user must reach this server's socket; passwords still guard it, and it ends with this script.
        (socket / ".s.PGSQL.5432").chmod(0o777)
        reached = container.root / "database"
        reached.mkdir()
        run(["mount", "--bind", str(socket), str(reached)])
        socket.chmod(0o755)
        try_image(container, image, urls, work, given.patience)
        say("the image builds, starts, and seeds what has changed alone")
    finally:
        server.stop()
        for mounted in sorted(work.glob("*/root"), reverse=True):
            subprocess.run(["umount", "-R", "-l", str(mounted)], capture_output=True, check=False)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
