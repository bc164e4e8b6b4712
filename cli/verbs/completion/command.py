"""`kohort completion`."""

from enum import Enum
from typing import Annotated

import typer


class Shell(Enum):
    """A shell with a completion script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    *, shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
) -> None:
    """Print the completion script of a shell.

    The script completes kohort and kohort-consumer-groups.

    \b
    For the current shell:
      bash   source <(kohort completion bash)
      zsh    source <(kohort completion zsh)
      fish   kohort completion fish | source
    \b
    Permanently:
      bash   add the first line above to ~/.bashrc
      zsh    add it to ~/.zshrc, after compinit
      fish   add it to ~/.config/fish/config.fish
    \b
    Or as a file, which the shell reads at the first Tab:
      zsh    kohort completion zsh > DIR/_kohort, DIR being one of $fpath
      fish   kohort completion fish > ~/.config/fish/completions/kohort.fish
      bash   kohort completion bash > DIR/kohort, DIR being
             ~/.local/share/bash-completion/completions
    bash and fish also need a link to it, named after kohort-consumer-groups.

    Names of groups, topics, members and contexts come from the source that the options name. A source that does
    not answer within KOHORT_COMPLETION_MS (500 ms) is skipped.
    """
    from importlib.resources import files

    from cli.output import write_out

    text = files("cli.verbs.completion").joinpath(f"script.{shell.value}").read_text(encoding="utf-8")
    write_out(lambda out: out.write(text))
