"""What the options of a connection string ask: where the server is, what its sessions have, which of several hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rowpath.engines.base import Engine
from rowpath.engines.probe_facts import shown
from rowpath.errors import UsageError
from rowpath.own_database.tls import MEANINGS, is_tls_option
from rowpath.toml_file import suggest

PLACE = ("user", "password", "host", "hostaddr", "port", "dbname", "passfile")
SWITCHES = "options"
NAMEABLE = re.compile(r"[\w.-]{1,40}")  # what else stands for a name may be a piece of a password


@dataclass(frozen=True)
class Asked:
    """The options of a connection string, by what they mean."""

    place: dict[str, str] = field(default_factory=dict, repr=False)  # of PLACE
    options: dict[str, str] = field(default_factory=dict, repr=False)  # sockets, TLS; those as they are spelt
    session: dict[str, str] = field(default_factory=dict)  # a setting → its value
    attribute: str = ""  # that the server must have; empty: any server
    notes: tuple[str, ...] = ()


def asked(engine: Engine, given: Mapping[str, str]) -> Asked:
    """What these options mean to the engine. Errors: UsageError for one that would change rows and cannot be obeyed."""
    facts, read = engine.probe.options, Asked()
    own: dict[str, str] = {}
    attribute, ignored = "", []
    for key, value in given.items():
        name = facts.same.get(key.lower(), key.lower())
        if not value:
            continue  # as good as absent
        if name in engine.probe.url_options:
            read.options[name] = value
        elif name in PLACE:
            read.place[name] = value
        elif name == facts.one_name:
            own["search_path"] = '"' + value.replace('"', '""') + '"'
        elif name == SWITCHES and facts.switches is not None:
            for setting, wanted in facts.switches(value).items():
                if _is_setting(engine, setting, wanted):
                    read.session[setting] = wanted
                elif setting.lower() not in facts.settings_alike:
                    ignored.append(setting)
        elif name == facts.attribute_option:
            attribute = facts.attribute_words.get(value.lower(), value.lower())
            if attribute not in facts.attributes:
                raise UsageError(f"unknown {key} {shown(value)}", suggest(value, tuple(facts.attributes)))
        elif value.lower() in facts.alike.get(name, ()):
            continue
        elif is_tls_option(key) and name not in facts.alike:
            read.options[key] = value
        elif name in facts.harmless:
            ignored.append(key)
        elif name in facts.alike:
            raise _refused(engine, key, value)
        elif _is_setting(engine, name, value):
            own[name] = value
    read.session.update(own)
    for name, value in read.session.items():
        facts.statement(name, value)  # it may be invalid
    notes = (f"URL options that change no row are ignored: {', '.join(ignored)}",) if ignored else ()
    wanted = attribute if facts.attributes.get(attribute) else ""
    return Asked(read.place, read.options, read.session, wanted, notes)


def _is_setting(engine: Engine, name: str, value: str) -> bool:
    """Whether sessions get the setting; false where it changes nothing. Errors: UsageError where they cannot."""
    facts = engine.probe.options
    name = facts.same.get(name.lower(), name.lower())
    if name in facts.settings_alike:
        if value.lower() not in facts.settings_alike[name]:
            raise _refused(engine, name, value)
        return name in facts.settings
    if name in facts.settings or (facts.settings and re.fullmatch(r"[a-z_]\w*(\.[a-z_]\w*)+", name)):
        return True  # a name with a dot is an application's own, which policies of rows may read
    if name in facts.harmless:
        return False
    raise _refused(engine, name, value)


def _refused(engine: Engine, key: str, value: str) -> UsageError:
    facts = engine.probe.options
    name, seen = facts.same.get(key.lower(), key.lower()), shown(value).strip("'")
    if name in facts.refused:
        why = "clients differ about what it checks" if is_tls_option(key) else "it could change the rows"
        return UsageError(f"{key}={seen} is not available for a probe: {why}", facts.refused[name])
    if name in facts.settings_alike or name in facts.alike:
        values = (*facts.settings_alike.get(name, ()), *facts.alike.get(name, ()))
        return UsageError(
            f"{key}={seen} could change the rows: every path has {key}={values[0]}",
            "remove the option",
        )
    if not NAMEABLE.fullmatch(key):
        return UsageError("an option of the URL has no name", "?name=value&name=value; percent-encode other signs")
    known = (
        *facts.settings,
        *facts.alike,
        *facts.harmless,
        *facts.same,
        *PLACE,
        *engine.probe.url_options,
        *MEANINGS,
    )
    near = suggest(key, tuple(sorted(known)))
    hint = near if near.startswith("did you mean") else "remove it"
    return UsageError(f"unknown option {key}: it could change which rows are read", hint)
