import { defineCommand } from '../../src/cli/command.ts'
import * as z from '../../src/cli/params.ts'
import { toolOptions } from '../../src/mcp/agents.ts'

export const command = defineCommand({
  name: 'mcp serve',
  isDefault: true,
  summary: 'be a Model Context Protocol server on stdin and stdout, for an agent',
  description:
    'The acts of a buyer and a seller of services are tools; --tools all adds subscriptions, products, requests and the rest, --admin those of the operator. Listings and jobs are resources. Payments pass the spend policy of the wallet, within --max-price a call. Without a policy a person agrees to each payment, where the agent’s program can ask; where it cannot, nothing is paid until souk wallet policy set says what may be.',
  args: z.object({}),
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
