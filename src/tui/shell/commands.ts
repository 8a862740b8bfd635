import { nounScreens, type ScreenId } from '../../nouns/screens.ts'
import { safe } from '../../text/text.ts'
import { askAnyway, refuse, shellCommand, showToast } from './ask.ts'
import type { DialogSpec } from './dialog.ts'
import type { HealthFacts } from './health.ts'
import { START_COMMAND } from './notice.ts'
import { fetchHealth } from './queries.ts'
import type { CommandLine, Host } from './screen.ts'
import type { ShopView, Ui } from './ui.ts'

const market = (shopView: ShopView) => ['services', () => ({ shopView })] as const

/** Commands that the palette answers by opening a screen, and the view there (default: the one that is open). */
export const shownBy: Readonly<Record<string, readonly [screen: ScreenId, view?: (ui: Ui) => Partial<Ui>]>> = {
  status: ['overview'],
  attention: ['overview'],
  'services list': market('services'),
  'admin services list': market('services'),
  'admin plans list': market('plans'),
  'admin subs list': market('subscriptions'),
  'admin requests list': market('requests'),
  'admin products list': market('products'),
  'admin jobs list': ['jobs'],
  'jobs list': ['jobs'],
  'admin threads list': ['threads'],
  'threads list': ['threads'],
  'crons list': ['crons'],
  'endpoints list': ['endpoints'],
  'admin payouts': ['money', () => ({ moneyView: 'payouts' })],
  'admin holds': ['money'],
  'admin payees': ['money'],
  'money river': ['money'],
  'money audit': ['money'],
  'admin verification list': ['compliance'],
  'admin sdn list': ['compliance'],
  logs: ['logs'],
  'admin webhooks list': ['logs', ({ logs }) => ({ logs: { ...logs, view: 'webhooks' } })],
  'requests list': ['requests'],
  'admin participants list': ['people'],
  'participants list': ['people'],
  'clock show': ['clock'],
  ...Object.fromEntries(nounScreens.map(({ id, command }) => [command, [id]])),
}

/** Commands that use the terminal themselves or do not end. */
const ownTerminal = ['tui', 'tour', 'listen', 'provide', 'mcp serve', 'daemon serve', 'jobs watch']

export type Named = { readonly name: string; readonly summary: string; readonly rest: readonly string[] }

export function commandIn({ commands }: Pick<CommandLine, 'commands'>, words: readonly string[]): Named | undefined {
  const line = words.join(' ')
  const fits = commands.filter(({ name }) => line === name || line.startsWith(`${name} `))
  const [longest] = fits.toSorted((a, b) => b.name.length - a.name.length)
  return longest && { ...longest, rest: words.slice(longest.name.split(' ').length) }
}

/** Why the palette cannot run a command. Undefined if it can. */
export function whyNot({ name, rest }: Named): string | undefined {
  const isEndless = rest.some((word) => /^(--follow|--watch|-f|-w)(=|$)/.test(word))
  return ownTerminal.includes(name) || isEndless ? `souk ${name} needs its own terminal` : undefined
}

/** Dialog that runs a command after the user confirms it. */
export function commandDialog(host: Host, line: CommandLine, { name, summary, rest }: Named): DialogSpec {
  const words = [...name.split(' '), ...rest, '--yes']
  return {
    title: 'RUN A COMMAND',
    facts: () => [
      ['command', name],
      ['What it does', summary],
    ],
    verb: 'Run',
    command: () => shellCommand(host, words),
    send: async () => {
      const { option } = host.link.place
      const where = option === '' ? [] : option.split(' ')
      const confirmed = host.link.place.guarded ? ['--confirm', host.link.place.name] : []
      const done = await line.run([...where, ...words, ...confirmed, '--no-input'])
      const said = done.ok ? done.value.split('\n', SAID_LINES).map(safe).filter(Boolean) : []
      return done.ok ? { ok: true, value: said.join('  ') } : done
    },
  }
}

const SAID_LINES = 3
/** Commands that end with one of these words only read data. */
const READS =
  /(?:^| )(?:list|view|show|status|health|attention|river|audit|bundle|deliveries|why|stats|balance|earnings|search|doctor|tx|queue|trust|version)$/

/** Whether a command only reads, so that it runs without a question. */
export function isRead({ name, rest }: Named): boolean {
  return READS.test(name) && !rest.some((word) => /^--(?:fix|yes)\b/.test(word))
}

/** Runs a command that only reads, and shows its output in a picker. */
export async function showOutput(host: Host, line: CommandLine, { name, rest }: Named): Promise<void> {
  const { option } = host.link.place
  const words = [...name.split(' '), ...rest]
  showToast(host, { text: `● souk ${words.join(' ')} …`, tone: 'dim', stays: false })
  const done = await line.run([...(option === '' ? [] : option.split(' ')), ...words, '--no-input'])
  if (!done.ok) return refuse(host, [done.problem.sentence, ...done.problem.facts].join('  '))
  showLines(host, `souk ${words.join(' ')}`, done.value)
}

/** Shows lines in the pane, below those that it already shows. */
export function showLines(host: Host, title: string, text: string): void {
  const { ui } = host
  const { picker, output } = ui.get()
  // Tabs become blanks, so that columns stay aligned.
  const lines = text.split('\n').map((one) => one.replaceAll(/[^\S ]/g, '   ').replaceAll(/\S+/g, safe))
  const before = picker?.kind === 'output' ? output : []
  const next = { kind: 'output', title: safe(title), text: '', at: 0 } as const
  ui.set({ ...ui.get(), toast: undefined, picker: next, output: [...before, ...lines] })
}

/** Opens the palette with the beginning of a command. The user completes and confirms it. */
export function beginLine(host: Host, text: string): void {
  const { ui, readonly } = host
  if (readonly) refuse(host, `This cockpit is read-only: it runs no command.  → souk ${text.trim()} …`)
  else ui.set({ ...ui.get(), picker: { kind: 'palette', text, at: 0 } })
}

/** Dialog that restarts a stopped daemon. `restart` keeps the daemon's last options, which `souk up` would not. */
export function startDaemon(host: Host): void {
  const line = host.commandLine
  const health = host.queries.open<HealthFacts>('health', fetchHealth(host.link), host.refreshMs).get()
  if (health.problem?.kind === 'starting') {
    showToast(host, {
      text: `○ ${health.problem.sentence} ${health.problem.facts.join('; ')}`,
      tone: 'good',
      stays: false,
    })
  } else if (health.problem?.kind !== 'gone') {
    showToast(host, { text: '✓ The daemon is already running.', tone: 'good', stays: false })
  } else if (host.link.place.guarded || line === undefined) {
    refuse(host, `Only the local daemon can be started here.  → ${START_COMMAND}`)
  } else {
    askAnyway(host, {
      title: 'START THE DAEMON',
      facts: () => [
        ['where', 'this machine'],
        ['What it does', 'restarts the daemon with its data and its last options'],
      ],
      fields: [],
      verb: 'Start',
      command: () => START_COMMAND,
      send: () => line.run(['restart', '--no-input']),
    })
  }
}
