"""Whether a listener can have the address that the settings give it."""

import errno
import socket

from engine.cli.errors import CommandError
from engine.settings import Settings


def require_free_ports(settings: Settings) -> None:
    """Check both ports before anything is started.

    Raises:
        CommandError: one or both cannot be had; the line names each with its setting.
    """
    if settings.api_port == settings.console_port:
        raise CommandError(
            f"API and console are both given port {settings.api_port}. Set ANAMNESIS_API_PORT or "
            "ANAMNESIS_CONSOLE_PORT to another one."
        )
    faults = []
    for name, host, port in listeners(settings):
        try:
            require_free_port(host, port, name)
        except CommandError as error:
            faults.append(str(error))
    if faults:
        raise CommandError(" ".join(faults))


def listeners(settings: Settings) -> tuple[tuple[str, str, int], ...]:
    """Name as it stands in the settings, host and port of API and console."""
    return (
        ("API", settings.api_host, settings.api_port),
        ("CONSOLE", settings.console_host, settings.console_port),
    )


def require_free_port(host: str, port: int, name: str) -> None:
    """Bind the port for an instant, as the listener will.

    Raises:
        CommandError: it cannot be had.
    """
    setting = f"ANAMNESIS_{name}_PORT"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror:
        raise CommandError(f"{host} is no address of this machine. Correct ANAMNESIS_{name}_HOST.") from None
    except OSError as error:
        raise CommandError(_line(error, host, port, setting, f"ANAMNESIS_{name}_HOST")) from None


def _line(error: OSError, host: str, port: int, setting: str, host_setting: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken. Free it, or set {setting} to another one."
    if error.errno == errno.EACCES:
        return f"Port {port} needs rights that this user lacks. Set {setting} to one above 1023."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine. Correct {host_setting}."
    return f"Port {port} on {host} cannot be used: {error.strerror}. Correct {setting} or {host_setting}."
