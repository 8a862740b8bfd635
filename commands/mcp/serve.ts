import { defineCommand } from '../../src/cli/command.ts'
import { toolOptions } from '../../src/mcp/agents.ts'

export const command = defineCommand({
  name: 'mcp serve',
  isDefault: true,
  summary: 'run an MCP server for an agent, on stdin and stdout',
  description:
    'Tools cover buying and selling services. --tools all adds subscriptions, products and requests; --admin adds operator tools. Listings and jobs are resources. Payments follow the spending limits of the wallet, within --max-price per call. Without limits, each payment needs approval in the agent program; if it cannot ask, nothing is paid until you run `souk wallet policy set`.',
  options: toolOptions,
  ownForm: true,
  examples: ['souk mcp', 'souk mcp --tools all', 'souk mcp --readonly --tools services,jobs'],
  endsItself: true,
  /** No data of its own: stdout carries the messages of the Model Context Protocol (JSON-RPC 2.0, one a line). */
  // biome-ignore lint/correctness/useYield: what it says goes to stdout as messages of the protocol
  async *run(context): AsyncGenerator<never> {
    const { chosenTools } = await import('../../src/mcp/tools.ts')
    const tools = chosenTools(context.options)
    const { serveMcp } = await import('../../src/mcp/mcp-server.ts')
    await serveMcp(context, tools)
  },
  view: () => undefined,
})
