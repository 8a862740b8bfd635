import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import * as z from '../src/cli/params.ts'
import { DEFAULT_INSTANCE, placesOf } from '../src/client/paths.ts'
import { formatAmount } from '../src/core/money.ts'
import { keysOf } from '../src/core/record.ts'
import { type AgentName, agents, toolOptions } from '../src/mcp/agents.ts'
import { bold, cyan } from '../src/text/text.ts'

const names = keysOf(agents)

type Host = CommandContext<{ agent?: AgentName | undefined }, z.output<typeof toolOptions>>

export const mcpInstall = defineCommand({
  name: 'mcp install',
  summary: 'print the MCP configuration for an agent program',
  description:
    'Writes no file: paste the output where it says. It uses the program, remote, wallet and folders of this command, and never includes passphrases or keys.',
  args: z.object({
    agent: z
      .enum(names)
      .optional()
      .meta({ description: `agent program: ${names.join(', ')} (default: all)` }),
  }),
  options: toolOptions,
  ownText: true, // a configuration is shown line by line
  examples: ['souk mcp install claude-code', 'souk mcp install --json --fields configs'],
  async run(context) {
    const started = startedAs(context)
    const wanted = context.args.agent === undefined ? names : [context.args.agent]
    const configs = wanted.map((agent) => {
      const { title, file, format, text } = agents[agent]
      return { agent, title, file, format, text: text(started) }
    })
    const { chosenTools } = await import('../src/mcp/tools.ts')
    const { waitTool } = await import('../src/mcp/wait-tool.ts')
    const tools = [...chosenTools(context.options), waitTool].map(({ name }) => name)
    context.io.say(`tools: ${tools.join(' ')}`)
    context.io.say(`other tools: ${cyan(context.io.hint('souk mcp install --tools all'))}`)
    return { ...started, configs }
  },
  rows: ({ configs }) => configs,
  view({ configs }, io) {
    for (const { title, file, text } of configs) {
      if (configs.length > 1) io.line(`${bold(title)}   ${file}`)
      else io.note(`${bold(title)}   ${file}`)
      for (const line of text.split('\n')) io.line(line)
      if (configs.length > 1) io.line()
    }
    io.note(`what it may spend: ${cyan(io.hint('souk wallet policy set --per-day 5.00'))}`)
  },
})

/** This program, by its whole path, with what is in force here: an agent starts it in a folder and with a PATH of its own. */
function startedAs({ globals, options: given, places, system }: Host) {
  const [program, ...first] = system.self
  const usual = placesOf({ HOME: system.env.HOME })
  const flags: Readonly<Record<string, string | undefined>> = {
    '--remote': globals.remote,
    '--base-url': globals.baseUrl,
    '--as': globals.as,
    '--pay': globals.pay === 'auto' ? undefined : globals.pay,
    '--instance': places.instance === DEFAULT_INSTANCE ? undefined : places.instance,
    '--config': places.config === usual.config ? undefined : places.config,
    '--data': places.chosenData,
    '--max-price': formatAmount(globals.maxPrice),
    '--tools': given.tools,
  }
  const words = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
  const switches = [...(given.admin ? ['--admin'] : []), ...(given.readonly ? ['--readonly'] : [])]
  const kept = ['SOUK_PASSPHRASE_FILE', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR']
  const env = Object.fromEntries(kept.flatMap((name) => (system.env[name] ? [[name, system.env[name]]] : [])))
  return { command: program, args: [...first, 'mcp', ...words, ...switches], env }
}

export const mcpServe = defineCommand({
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
    const { chosenTools } = await import('../src/mcp/tools.ts')
    const tools = chosenTools(context.options)
    const { serveMcp } = await import('../src/mcp/mcp-server.ts')
    await serveMcp(context, tools)
  },
  view: () => undefined,
})
