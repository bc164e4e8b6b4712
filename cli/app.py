"""The `kohort` command: where it begins and ends, its verbs, and the one place that chooses its exit status.

A command is imported and built when it is asked for: a process runs one of them, and pays for one.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from typing import Annotated, Any, NoReturn, get_origin, get_type_hints

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from cli.errors import CommandError, ExitStatus, UsageError, exit_status, fault, is_expected
from cli.options import SourceOptions

Commands = Mapping[str, Any]
"""Functions of commands by the second word, in the order of the help."""

COMMANDS = (
    "list", "describe", "diagnose", "validate-regex", "dry-run", "plan", "gate", "rehearse", "bridge", "simulate",
    "explore", "delete", "apply", "snapshot", "exporter", "serve", "demo", "watch", "completion", "help", "version",
)  # fmt: skip
"""Commands of one word, in the order of the help."""


def _command(name: str) -> Any:
    """The function of a command, imported when it is asked for."""
    match name:
        case "list":
            from cli.verbs.list import list_groups

            return list_groups
        case "describe":
            from cli.verbs.describe.command import describe

            return describe
        case "diagnose":
            from cli.verbs.diagnose.command import diagnose

            return diagnose
        case "validate-regex":
            from cli.verbs.validate_regex.command import validate_regex

            return validate_regex
        case "dry-run":
            from cli.verbs.dry_run.command import dry_run

            return dry_run
        case "plan":
            from cli.verbs.plan.command import plan

            return plan
        case "gate":
            from cli.verbs.gate.command import gate

            return gate
        case "rehearse":
            from cli.verbs.rehearse.command import rehearse

            return rehearse
        case "bridge":
            from cli.verbs.bridge.command import bridge

            return bridge
        case "simulate":
            from cli.verbs.simulate.command import simulate

            return simulate
        case "explore":
            from cli.verbs.explore import explore

            return explore
        case "delete":
            from cli.verbs.delete.command import delete

            return delete
        case "apply":
            from cli.verbs.apply.command import apply

            return apply
        case "snapshot":
            from cli.verbs.snapshot import snapshot

            return snapshot
        case "exporter":
            from cli.verbs.exporter.command import exporter

            return exporter
        case "serve":
            from cli.verbs.serve.command import serve

            return serve
        case "demo":
            from cli.verbs.demo.command import demo

            return demo
        case "watch":
            from cli.verbs.watch.command import watch

            return watch
        case "completion":
            from cli.verbs.completion.command import completion

            return completion
        case "help":
            from cli.verbs.help.command import help_

            return help_
        case "version":
            from cli.verbs.version import version

            return version
    raise KeyError(name)


def _fleet() -> Commands:
    from cli.verbs.fleet.command import (
        fleet_audit,
        fleet_follow,
        fleet_history,
        fleet_rehearse,
        fleet_simulate,
    )

    return {
        "history": fleet_history,
        "follow": fleet_follow,
        "audit": fleet_audit,
        "simulate": fleet_simulate,
        "rehearse": fleet_rehearse,
    }


def _log() -> Commands:
    from cli.verbs.log_dump.command import log_dump
    from cli.verbs.log_verify.command import log_verify

    return {"dump": log_dump, "verify": log_verify}


def _offsets() -> Commands:
    from cli.verbs.offsets.command import clone, delete, export, load, reset

    return {"reset": reset, "export": export, "import": load, "clone": clone, "delete": delete}


def _members() -> Commands:
    from cli.verbs.members.command import remove

    return {"remove": remove}


def _config() -> Commands:
    from cli.verbs.config.command import get, set_, unset

    return {"get": get, "set": set_, "unset": unset}


def _fault() -> Commands:
    from cli.verbs.fault.command import (
        clear,
        crash,
        delay,
        disconnect,
        drop,
        error,
        expire,
        fence,
        list_rules,
        move,
        topic,
    )

    return {
        "delay": delay,
        "error": error,
        "drop": drop,
        "expire": expire,
        "fence": fence,
        "disconnect": disconnect,
        "move": move,
        "crash": crash,
        "topic": topic,
        "list": list_rules,
        "clear": clear,
    }


def _context() -> Commands:
    from cli.verbs.context.command import add, list_contexts, remove, rename, show, use

    return {"list": list_contexts, "show": show, "use": use, "add": add, "remove": remove, "rename": rename}


def _gate_parser() -> Any:
    from cli.optional_value import parser_of
    from cli.verbs.gate.command import with_default

    return parser_of(with_default)


def _describe_parser() -> Any:
    from cli.optional_value import parser_of
    from cli.verbs.describe.command import with_table

    return parser_of(with_table)


FAMILIES: Mapping[str, tuple[str, Callable[[], Commands]]] = {
    "fleet": (
        "Look at thousands of groups or months of history, with Spark: history, follow, audit, simulate, rehearse.",
        _fleet,
    ),
    "log": ("Look into a broker's own log of groups and offsets.", _log),
    "offsets": ("Look after committed offsets: reset, export, import, clone, delete.", _offsets),
    "members": ("Manage the members of groups: remove.", _members),
    "config": ("Look after the settings of groups: get, set, unset.", _config),
    "fault": (
        "Have a running kohort serve fail on purpose: requests, members, coordinators, topics.",
        _fault,
    ),
    "context": ("Look after contexts, names for sources: list, show, use, add, remove, rename.", _context),
}
"""Commands of two words: what the first stands for, and what may follow it."""


Build = Callable[[bool], Any]
"""Makes a command; True asks for its help text alone, which the list of commands shows."""


class LazyCommands(Mapping[str, Any]):
    """Commands by name, each built once, when it is looked up."""

    def __init__(self, builds: Mapping[str, Build]) -> None:
        self._builds = builds
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self._builds[name](False)
        return self._built[name]

    def outline(self, name: str) -> Any:
        """The command if it has been built, or one that has its help text and nothing else."""
        return self._built[name] if name in self._built else self._builds[name](True)

    def __iter__(self) -> Iterator[str]:
        return iter(self._builds)

    def __len__(self) -> int:
        return len(self._builds)


def lazy_group(builds: Mapping[str, Build]) -> type[TyperGroup]:
    """A class for `typer.Typer(cls=…)`: a group of these commands."""

    class Lazy(TyperGroup):
        def __init__(self, **settings: Any) -> None:
            self.lazy = LazyCommands(builds)
            super().__init__(**settings | {"commands": self.lazy})

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            outlines = {name: self.lazy.outline(name) for name in self.lazy}
            TyperGroup(name=self.name, commands=outlines).format_commands(ctx, formatter)

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            outlines = {name: self.lazy.outline(name) for name in self.lazy if name.startswith(incomplete)}
            group = TyperGroup(name=self.name, commands=outlines, params=self.params)
            found = group.shell_complete(typer.Context(group, parent=ctx.parent), incomplete)
            for item in found:
                if item.value in outlines:
                    item.help = outlines[item.value].help
            return found

    return Lazy


def verb(name: str, load: Callable[[], Any], *, parser: Callable[[], Any] | None = None) -> Build:
    """Builds the command whose function `load` imports; the class that `parser` imports reads its options."""

    def build(outline: bool) -> Any:
        if outline:
            return TyperCommand(name, help=inspect.getdoc(load()))
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        alone.command(name, cls=parser and parser())(expand(load()))
        return typer.main.get_command(alone)

    return build


def family(name: str, purpose: str, load: Callable[[], Mapping[str, Any]]) -> Build:
    """Builds the first word of commands of two words; `load` imports their functions."""

    def build(outline: bool) -> Any:
        if outline:
            return TyperGroup(name=name, help=purpose)
        functions = load()
        builds = {second: verb(second, partial(functions.__getitem__, second)) for second in functions}
        group = typer.Typer(
            name=name, help=purpose, cls=lazy_group(builds), no_args_is_help=True, rich_markup_mode=None
        )
        return typer.main.get_group(group)

    return build


def expand(function: Callable[..., None]) -> Callable[..., None]:
    """Spread options dataclasses over the signature that Typer reads."""
    hints = get_type_hints(function, include_extras=True)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    call = next((name for name, hint in hints.items() if hint is typer.Context), None)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in bundles:
            parameters += _fields_of(bundles[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
    names = {name: [field.name for field in _fields_of(bundle)] for name, bundle in bundles.items()}
    if call is None:
        parameters.append(_CALL)

    @wraps(function)
    def command(**arguments: Any) -> None:
        for value in arguments.values():
            _refuse_bytes(value)
        invocation = arguments[call] if call else arguments.pop(_CALL.name)
        for bundle, fields in names.items():
            arguments[bundle] = bundles[bundle](**{field: arguments.pop(field) for field in fields})
        if SourceOptions in bundles.values():
            from cli.sources.contexts.settle import settle

            arguments = settle(arguments, _typed(invocation))
        function(**arguments)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


_CALL = inspect.Parameter("invocation", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
"""Where Typer keeps which options were typed."""


def _typed(invocation: typer.Context) -> Callable[[str], bool]:
    """Whether the command line itself gave a parameter."""

    def typed(name: str) -> bool:
        source = invocation.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    return typed


def _refuse_bytes(value: Any) -> None:
    """Bytes that are not UTF-8 may name a file, but no group, topic or regex: those are texts."""
    for text in value if isinstance(value, list | tuple) else [value]:
        if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"{text!a} is not text in UTF-8")


def _fields_of(bundle: Any) -> list[inspect.Parameter]:
    """The options of a bundle; a field without an option is for those who work with it."""
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(bundle)
        if get_origin(hints[field.name]) is Annotated
    ]


def _builds() -> dict[str, Build]:
    parsers = {"gate": _gate_parser, "describe": _describe_parser}
    single = {name: verb(name, partial(_command, name), parser=parsers.get(name)) for name in COMMANDS}
    return single | {name: family(name, purpose, load) for name, (purpose, load) in FAMILIES.items()}


app = typer.Typer(
    name="kohort",
    cls=lazy_group(_builds()),
    help="See, check, dry-run and plan Kafka consumer groups.",
    no_args_is_help=True,
    add_completion=False,  # `kohort completion` has scripts of its own, which know the names of groups
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's help costs as much as all of typer
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"kohort {version('kohort')}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    if debug:
        os.environ["KOHORT_DEBUG"] = "1"


def main() -> None:
    """Answer a shell that asks what may follow, or run a command."""
    if "_KOHORT_COMPLETE" in os.environ:
        from cli.verbs.completion.answer import main as answer

        answer(app)
    try:
        run_command()
    except SystemExit as end:
        _end(end)


def run_command() -> NoReturn:
    """Run a command; no traceback reaches a user unless --debug asks for it."""
    try:
        app()
    except KeyboardInterrupt:
        status: int = ExitStatus.INTERRUPTED
    except Exception as error:
        if os.environ.get("KOHORT_DEBUG"):
            raise
        from cli.output import notice

        reason = _unprinted(error) or error
        status = exit_status(reason)
        notice(str(reason) if is_expected(reason) else f"this is {fault(reason, '--debug')}")
    else:
        status = ExitStatus.DONE
    finally:
        # A second Ctrl-C while the interpreter ends would change the exit status and print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def _unprinted(error: Exception) -> CommandError | None:
    """What is wrong with standard output, where help or a version could not be printed and is still in its buffer."""
    if isinstance(error, OSError):
        from cli.output import write_out

        try:
            write_out(lambda _: None)
        except CommandError as refusal:
            return refusal
    return None


def _end(end: SystemExit) -> None:
    """Exit at once, without freeing a hundred thousand objects one by one first.

    The interpreter ends in its own way, and says why, where something cannot be written out.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        raise end from None
    if not isinstance(end.code, int):
        raise end
    os._exit(end.code)
