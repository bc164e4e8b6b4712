"""The message for a command line that Typer cannot parse: the mistake, a close name, and the help to read."""

import re
import shlex
from typing import Any

from wire.suggestion import closest, did_you_mean

_PLAIN_WORDS = {
    r" \(Possible options: .*\)$": "",
    r"not a valid int(eger)?( range)?$": "not a whole number",
    r"not a valid float( range)?$": "not a number",
    r"got unexpected extra arguments? \((.*)\)$": r"unexpected argument: \1",
    r"got unexpected extra argument\(s\) \((.*)\)$": r"unexpected argument: \1",
}
_FORMATS = ("json", "yaml", "csv", "markdown", "html")
_OPTIONS = {
    **dict.fromkeys(("-f", "--format", "--out"), "--output"),
    **{f"--{name}": f"--output {name}" for name in _FORMATS},
    **dict.fromkeys(("--broker", "--brokers", "--broker-list", "--server", "-s"), "--bootstrap-server"),
    **dict.fromkeys(("--config", "--consumer-config", "-c"), "--command-config"),
    **dict.fromkeys(("-w", "--interval"), "--watch"),
    **dict.fromkeys(("-a", "--all"), "--all-groups"),
    **dict.fromkeys(("-y", "--force", "--no-confirm"), "--yes"),
    "-t": "--topic",
    "--no-color": "--color never",
}
"""Names in other tools, and what they are called here."""
_GROUP_OPTIONS = ("--group", "--groups", "--group-id", "-g")
_ACTIONS = {
    "--list": "list",
    "--describe": "describe",
    "--delete": "delete",
    "--reset-offsets": "offsets reset",
    "--delete-offsets": "offsets delete",
}
"""Actions of Kafka's tool, and the commands for them."""
COMMANDS = {
    "lags": "lag",
    **dict.fromkeys(("show", "info", "state", "members", "offset"), "describe"),
    **dict.fromkeys(("ls", "groups", "group", "consumer-groups", "get"), "list"),
    **dict.fromkeys(("reset-offsets", "reset-offset", "seek"), "offsets reset"),
    **dict.fromkeys(("delete-offsets", "delete-offset"), "offsets delete"),
    **dict.fromkeys(("rm", "drop", "delete-group", "delete-groups"), "delete"),
    **dict.fromkeys(("status", "health", "check", "doctor"), "diagnose"),
    **dict.fromkeys(("upgrade", "convert"), "plan"),
    **dict.fromkeys(("monitor", "dashboard", "ui", "tui", "browse"), "top"),
    **dict.fromkeys(("tail", "follow"), "watch"),
    **dict.fromkeys(("contexts", "clusters"), "context list"),
    "use-context": "context use",
    **dict.fromkeys(("metrics", "prometheus"), "exporter"),
    **dict.fromkeys(("regex", "regexes"), "validate-regex"),
    **dict.fromkeys(("feature", "kafka-features"), "features list"),
    "backup": "offsets export",
    "restore": "offsets import",
    "kick": "members remove",
}
"""First words that other tools or habits suggest, and the commands for them."""
_EXTRA = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.*?)\)?$")
_CHOICE = re.compile(r"'([^']*)' is not one of (.*)")


def usage_error(error: Any) -> str:
    """Two lines for a TyperException; one line if it is not known which command was parsed."""
    context = getattr(error, "ctx", None)
    message = " ".join(error.format_message().split()).rstrip(".")
    message = message[:1].lower() + message[1:]
    for pattern, plain in _PLAIN_WORDS.items():
        message = re.sub(pattern, plain, message)
    if context is None:
        return message
    return f"{message}{_suggestion(error, context)}\n`{context.command_path} --help` shows what is valid"


def _suggestion(error: Any, context: Any) -> str:
    name = getattr(error, "option_name", None)
    if name is not None:
        return _about_option(name, context)
    extra = _EXTRA.search(error.format_message())
    if extra and any("--match" in parameter.opts for parameter in context.command.params):
        return f"; did you mean {_match_option(extra[1]) or f'`kohort describe {shlex.quote(extra[1])}`'}?"
    choice = _CHOICE.search(error.format_message())
    return did_you_mean(choice[1], re.findall("'(.*?)'", choice[2])) if choice else ""


def _about_option(name: str, context: Any) -> str:
    """What the option is called here, where it belongs, or the name that is closest."""
    options = {
        option.lstrip("-"): option
        for parameter in context.command.params
        for option in parameter.opts
        if option.startswith("-")
    }
    commands = getattr(context.command, "commands", ())
    parameters = context.command.params
    takes_groups = any(
        parameter.param_type_name == "argument" and "GROUP" in (parameter.metavar or "")
        for parameter in parameters
    )
    if name in _GROUP_OPTIONS and (commands or takes_groups):
        return f"; groups are arguments: `{context.command_path} {'COMMAND ' if commands else ''}GROUP`"
    if name in _GROUP_OPTIONS and "match" in options:
        return "; did you mean --match REGEX, or `kohort describe GROUP`?"
    if name == "--dry-run" and "execute" in options:
        return f"; without --execute, `{context.command_path}` only shows what would change"
    if name == "--all-contexts":
        from cli.options import OF_CLUSTERS

        return f"; it is an option of {', '.join(OF_CLUSTERS)}"
    familiar = _OPTIONS.get(name, "")
    if familiar and familiar.split()[0].lstrip("-") in options:
        return f"; did you mean {familiar}?"
    nearest = closest(name.lstrip("-"), [option for option in options if option != name.lstrip("-")])
    if nearest is not None:
        return f"; did you mean {options[nearest]}?"
    if not commands:
        return ""
    if name in _ACTIONS and context.parent is None:
        return f"; did you mean `kohort {_ACTIONS[name]}`? (kohort-consumer-groups takes the options of Kafka's tool)"
    if (word := closest(name.lstrip("-"), commands)) is not None:
        return f"; did you mean {word}?"
    return f"; options follow the command: `{context.command_path} COMMAND {name} …`"


def pattern_hint(group: str) -> str:
    """A suggestion for a group id that is a pattern of a shell; empty for other ids."""
    pattern = _match_option(group)
    return f"; a group id is no pattern: did you mean {pattern}?" if pattern else ""


def _match_option(text: str) -> str:
    """The option that selects what a shell's pattern means, such as `--match '^b'` for `b*`; empty for other texts."""
    if not re.search(r"[*?]", text):
        return ""
    if not text.strip("*"):
        return "--all-groups"
    regex = "".join({"*": ".*", "?": "."}.get(letter) or re.escape(letter) for letter in text)
    return f"--match {shlex.quote(f'^{regex}$'.removesuffix('.*$').replace('^.*', '', 1))}"
