import * as z from '../cli/params.ts'
import { shellWord } from '../text/text.ts'

/** Which tools a server offers: what it is started with, and what its configuration says. */
export const toolOptions = z.object({
  admin: z.boolean().default(false).meta({ description: 'add operator tools' }),
  readonly: z.boolean().default(false).meta({ description: 'only tools that change and cost nothing' }),
  tools: z
    .string()
    .optional()
    .meta({ description: 'groups of tools, such as default,postings or all (default: default)', value: 'groups' }),
})

/** How a program is started: its file, its arguments, its environment. */
export type StartedAs = {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

type Agent = {
  readonly title: string
  /** Where its configuration is, as people look for it. */
  readonly file: string
  readonly format: 'json' | 'toml' | 'shell'
  readonly text: (started: StartedAs) => string
}

const NAME = 'souk'

const json = (value: unknown) => JSON.stringify(value, null, 2)
const servers = (started: StartedAs) => json({ mcpServers: { [NAME]: { ...started } } })
const typed = ({ command, args, env }: StartedAs) => ({ type: 'stdio', command, args, env })

/** Programs that run servers, and the words that each reads them in. */
export const agents = {
  'claude-code': {
    title: 'Claude Code',
    file: 'a shell; or .mcp.json of a project, as claude-desktop',
    format: 'shell',
    text: ({ command, args, env }) =>
      [
        'claude mcp add',
        // It takes as many values as follow: the next option ends them, and the name is none of them.
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
    // Strings of TOML are written as those of JSON are.
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
