"""`kohort completion`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer


class Shell(Enum):
    """A shell that scripts are there for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    *, shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
) -> None:
    """Print the completion script of a shell, for kohort and for kohort-consumer-groups.

    \b
    Only for now, in the shell that you are in:
      bash   source <(kohort completion bash)
      zsh    source <(kohort completion zsh)
      fish   kohort completion fish | source
    \b
    For good:
      bash   put the first line above into ~/.bashrc
      zsh    put it into ~/.zshrc, somewhere behind compinit
      fish   put it into ~/.config/fish/config.fish
    \b
    Or as a file, which is read at the first Tab:
      zsh    kohort completion zsh > DIR/_kohort, DIR being one of $fpath
      fish   kohort completion fish > ~/.config/fish/completions/kohort.fish
      bash   kohort completion bash > DIR/kohort, DIR being
             ~/.local/share/bash-completion/completions
    bash and fish find it for kohort-consumer-groups by a link of that name.

    Names of groups, topics, members and contexts are asked for with the options typed so far; a source that takes
    longer than KOHORT_COMPLETION_MS (500 ms) is not waited for.
    """
    from importlib.resources import files

    from cli.output import write_out

    text = files("cli.verbs.completion").joinpath(f"script.{shell.value}").read_text(encoding="utf-8")
    write_out(lambda out: out.write(text))
