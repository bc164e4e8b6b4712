"""`kohort mcp`."""

from cli.options import SourceOptions
from cli.verbs.mcp.options import McpGuard, McpOptions


def mcp(*, options: McpOptions, guard: McpGuard, source: SourceOptions) -> None:
    """Serve tools for agents (MCP) that inspect groups.

    Read-only: changes exist only with --allow and --groups, need a preview, and are never made in a protected
    context. An agent's program starts this command, and talks to it over standard input and output.

    \b
    Examples:
      kohort mcp --context production
      kohort mcp -b localhost:9092 --allow offsets-reset --groups 'test-.*'
      kohort mcp -b localhost:9092 --http 8765 --token-file TOKEN
    """
    from cli.verbs.mcp.action import serve_agents

    serve_agents(options, guard, source)
