import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { nearest } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'mcp serve',
  isDefault: true,
  summary: 'be a Model Context Protocol server on stdin and stdout, for an agent',
  description:
    'Every act of a buyer and a seller is a tool, with --admin the operator’s too; listings and jobs are resources. Payments pass the spend policy of the wallet, within --max-price a call. Without a policy a person agrees to each payment, where the agent’s program can ask; where it cannot, nothing is paid until souk wallet policy set says what may be.',
  args: z.object({}),
  options: z.object({
    admin: z.boolean().default(false).meta({ description: 'what only the operator may do, too' }),
    readonly: z.boolean().default(false).meta({ description: 'only what changes and costs nothing' }),
    tools: z.string().optional().meta({ description: 'only these groups: services,jobs,threads', value: 'groups' }),
  }),
  ownForm: true,
  examples: ['souk mcp', 'souk mcp --readonly --tools services,jobs'],
  endsItself: true,
  /** No data of its own: stdout carries the messages of the Model Context Protocol (JSON-RPC 2.0, one a line). */
  async *run(context): AsyncGenerator<never> {
    const { toolGroups } = await import('../../src/mcp/tools.ts')
    const known = toolGroups()
    const groups = context.options.tools?.split(',').filter(Boolean) ?? []
    for (const group of groups.filter((one) => !known.includes(one))) {
      const near = nearest(group, known)
      throw usage(`There are no tools ${group}${near === undefined ? '' : ` (did you mean ${near}?)`}.`, {
        facts: [`groups: ${known.join(', ')}`],
      })
    }
    const { serveMcp } = await import('../../src/mcp/mcp-server.ts')
    const { admin, readonly } = context.options
    await serveMcp(context, { admin, readonly, groups })
  },
  view: () => undefined,
})
