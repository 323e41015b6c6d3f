"""Addresses of the ``filter`` block: their form, and that no two listeners on one machine want the same port."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import NamedTuple

from vsr_hallucination.config.cursor import Cursor, Fields
from vsr_hallucination.config.schema import FilterSettings

_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,252}[A-Za-z0-9_.])?\Z")
_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(?:[^/@\s]*@)?([^/?#\s]+)([^\s]*)\Z", re.IGNORECASE)
_ANY = frozenset({"0.0.0.0", "::", "*"})
_TLS_PORT = "443"


def read_addresses(fields: Fields, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """One ``host:port`` or ``unix:/path``, or a list of them."""
    if key not in fields:
        return default
    found: dict[str, Cursor] = {}
    for text, place in fields.placed_texts(key):
        _check(place, text, unix=True)
        if found.setdefault(text, place) is not place:
            place.error(f"`{text[:80]}` is listed twice", "remove one of the two")
    if not found and fields.place(key).is_list:
        fields.place(key).error("is empty", "list at least one host:port or unix:/path")
    return tuple(found) or default


def read_address(fields: Fields, key: str, default: str) -> str:
    """One ``host:port``."""
    text = fields.text(key, default)
    if key in fields:
        _check(fields.place(key), text, unix=False)
    return text


def read_upstream(fields: Fields, default: str) -> tuple[str, bool]:
    """Where Envoy finds the LLM, and whether it speaks TLS: two keys, of which a URL would be one."""
    text, tls = fields.text("upstream", default), fields.flag("upstream_tls", False)
    place = fields.get("upstream")
    if place is None:
        return text, tls
    url = _URL.match(text)
    if url is not None and url[1].lower() in ("http", "https"):
        secure = url[1].lower() == "https"
        host = url[2] if _has_port(url[2]) else f"{url[2]}:{443 if secure else 80}"
        also = "" if tls or not secure else ", and `upstream_tls: true` beside it"
        path = "; the path of each request is the client's own" if url[3].strip("/") else ""
        place.error(f"`{_shown(text)}` is a URL, not an address", f"write `upstream: {host[:80]}`{also}{path}")
        return text, tls
    _check(place, text, unix=False)
    if text.rpartition(":")[2] == _TLS_PORT and "upstream_tls" not in fields:
        place.warn(
            "port 443 mostly speaks TLS, and Envoy would speak plain HTTP to it",
            "write `upstream_tls: true` beside it (or `false`, if it is meant so)",
        )
    return text, tls


def is_loopback(address: str) -> bool:
    """True where only this machine reaches ``host:port`` or ``unix:/path``."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host.casefold() in ("localhost", "localhost."):
        return True
    ip = ip_of(host)
    return ip is not None and ip.is_loopback


def ip_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that ``host`` is, an IPv4 one that is written as IPv6 as such; None for a name."""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return None
    return (ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None) or ip


class _Listener(NamedTuple):
    """Who listens, where, and the place that says so; ``written``: in the file, not by default."""

    name: str
    address: str
    at: Cursor
    written: bool


def check_ports(fields: Fields, settings: FilterSettings) -> None:
    """Two listeners on one address of one machine: the second would not start.

    Where ``envoy.filter_addresses`` says that Envoy runs elsewhere, its ports and ours cannot meet. A port that
    clashes with a default of ``envoy`` is a warning: who runs another gateway does not use that default.
    """
    ours, envoys = tuple(_ours(fields, settings)), tuple(_envoys(fields, settings))
    groups = (ours, envoys) if settings.envoy.filter_addresses else ((*ours, *envoys),)
    for group in groups:
        for index, second in enumerate(group):
            first = next((each for each in group[:index] if _meet(each.address, second.address)), None)
            if first is None:
                continue
            told = second if second.written or not first.written else first
            other = first if told is second else second
            tell = told.at.error if other.written or {first, second} <= {*ours} else told.at.warn
            default = "" if other.written else ", by default"
            tell(
                f"`{told.address[:80]}` clashes with {other.name} (`{other.address[:80]}`{default})",
                "give one of the two another port",
            )


def _ours(fields: Fields, settings: FilterSettings) -> Iterator[_Listener]:
    server, admin = fields.sub("server", None), fields.sub("admin", None)
    for address in settings.server.listen:
        yield _Listener("filter.server.listen", address, server.place("listen"), "listen" in server)
    if settings.admin.enabled:
        yield _Listener("filter.admin.listen", settings.admin.listen, admin.place("listen"), "listen" in admin)


def _envoys(fields: Fields, settings: FilterSettings) -> Iterator[_Listener]:
    inner = fields.sub("envoy", None)
    yield _Listener("filter.envoy.listen", settings.envoy.listen, inner.place("listen"), "listen" in inner)
    yield _Listener("filter.envoy.admin", settings.envoy.admin, inner.place("admin"), "admin" in inner)


def _meet(one: str, other: str) -> bool:
    if one.startswith("unix:") or other.startswith("unix:"):
        return one == other
    (host, _, port), (host_, _, port_) = one.rpartition(":"), other.rpartition(":")
    if port != port_ or port.strip("0") == "":  # 0: whatever is free
        return False
    host, host_ = host.strip("[]").casefold(), host_.strip("[]").casefold()
    if host in _ANY or host_ in _ANY or host == host_:
        return True
    return {"localhost", "127.0.0.1"} >= {host, host_}


def _check(at: Cursor, text: str, *, unix: bool) -> None:
    forms = "host:port or unix:/path" if unix else "host:port"
    if text.startswith("unix:"):
        if not unix or not text.startswith("unix:/") or len(text) > 100:
            at.error(f"`{text[:80]}` is no address", f"write {forms}")
        return
    url = _URL.match(text)
    if url is not None:
        shown = url[2] if _has_port(url[2]) else f"{url[2]}:PORT"
        at.error(f"`{_shown(text)}` is a URL, not an address", f"write it without {url[1]}:// and path: {shown[:80]}")
        return
    host, separator, port = text.rpartition(":")
    if not separator or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
        at.error(f"`{text[:80]}` is no address", f"write {forms}, with a port from 0 to 65535")
        return
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else None
    try:
        if bare is not None:
            ipaddress.IPv6Address(bare)
    except ValueError:
        bare = ""
    if bare == "" or (bare is None and not _HOST.match(host)):
        at.error(f"`{text[:80]}` is no address", f"write {forms}; an IPv6 host goes into brackets: [::1]:9090")


def _has_port(host: str) -> bool:
    return re.search(r":[0-9]+\Z", host) is not None


def _shown(url: str) -> str:
    """A URL for a message: without user and password."""
    return re.sub(r"//[^/@\s]*@", "//", url)[:80]
