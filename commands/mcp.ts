import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import * as z from '../src/cli/params.ts'
import { DEFAULT_INSTANCE, placesOf } from '../src/client/settings.ts'
import { formatAmount } from '../src/core/money.ts'
import { keysOf } from '../src/core/record.ts'
import { bold, cyan, shellWord } from '../src/text/text.ts'

/** Options of `mcp` and `mcp install` that select the tools which the server offers. */
export const toolOptions = z.object({
  admin: z.flag({ description: 'add operator tools' }),
  readonly: z.flag({ description: 'only tools that change nothing and cost nothing' }),
  tools: z.text({
    description: 'groups of tools, such as default,postings or all (default: default)',
    value: 'groups',
  }),
})

/** How a client starts the server: program file, arguments and environment. */
export type StartedAs = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

type Agent = {
  readonly title: string
  readonly file: string
  readonly format: 'json' | 'toml' | 'shell'
  readonly text: (started: StartedAs) => string
}

const NAME = 'souk'

const json = (value: unknown) => JSON.stringify(value, null, 2)
const servers = (started: StartedAs) => json({ mcpServers: { [NAME]: { ...started } } })
const typed = ({ command, args, env }: StartedAs) => ({ type: 'stdio', command, args, env })

/** MCP clients with their configuration formats. */
export const agents = {
  'claude-code': {
    title: 'Claude Code',
    file: 'a shell; or .mcp.json of a project, in the format of claude-desktop',
    format: 'shell',
    text: ({ command, args, env }) =>
      [
        'claude mcp add',
        // `--env` takes several values, so another option must stand between it and the server's name.
        ...Object.entries(env).map(([name, value]) => `--env ${shellWord(`${name}=${value}`)}`),
        '--transport stdio',
        NAME,
        '--',
        ...[command, ...args].map(shellWord),
      ].join(' '),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    file: 'claude_desktop_config.json (Settings, Developer, Edit Config)',
    format: 'json',
    text: servers,
  },
  cursor: { title: 'Cursor', file: '~/.cursor/mcp.json', format: 'json', text: servers },
  vscode: {
    title: 'Visual Studio Code',
    file: '.vscode/mcp.json',
    format: 'json',
    text: (started) => json({ servers: { [NAME]: typed(started) } }),
  },
  windsurf: { title: 'Windsurf', file: '~/.codeium/windsurf/mcp_config.json', format: 'json', text: servers },
  gemini: { title: 'Gemini CLI', file: '~/.gemini/settings.json', format: 'json', text: servers },
  zed: {
    title: 'Zed',
    file: '~/.config/zed/settings.json',
    format: 'json',
    text: (started) => json({ context_servers: { [NAME]: { source: 'custom', ...started } } }),
  },
  codex: {
    title: 'Codex',
    file: '~/.codex/config.toml',
    format: 'toml',
    // JSON strings are valid TOML.
    text: ({ command, args, env }) =>
      [
        `[mcp_servers.${NAME}]`,
        `command = ${JSON.stringify(command)}`,
        `args = [${args.map((word) => JSON.stringify(word)).join(', ')}]`,
        ...(Object.keys(env).length === 0 ? [] : [`[mcp_servers.${NAME}.env]`]),
        ...Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
      ].join('\n'),
  },
} as const satisfies Readonly<Record<string, Agent>>

export type AgentName = keyof typeof agents

const names = keysOf(agents)

type Context = CommandContext<{ agent?: AgentName | undefined }, z.output<typeof toolOptions>>

export const mcpInstall = defineCommand({
  name: 'mcp install',
  summary: 'print the MCP configuration for an agent program',
  description:
    'Prints the configuration and the name of the file to paste it into; writes no file. The configuration uses the program, remote, wallet and folders of this command, and never includes passphrases or keys.',
  args: z.object({ agent: z.choice(names, { description: `agent program: ${names.join(', ')} (default: all)` }) }),
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

/** The start command with absolute paths and the options in force, since clients have their own folder and PATH. */
function startedAs({ globals, options: given, places, system }: Context) {
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
  /** Yields nothing: stdout carries the protocol (JSON-RPC 2.0, one message per line). */
  // biome-ignore lint/correctness/useYield: the server itself writes its messages to stdout
  async *run(context): AsyncGenerator<never> {
    const { chosenTools } = await import('../src/mcp/tools.ts')
    const tools = chosenTools(context.options)
    const { serveMcp } = await import('../src/mcp/mcp-server.ts')
    await serveMcp(context, tools)
  },
  view: () => undefined,
})
