import type { ScreenId } from '../../model/words.ts'
import { clip } from '../../text/text.ts'
import { textOf } from '../parts/line.ts'
import { refuse, showToast } from './ask.ts'
import { shellCommand } from './pause-dialog.ts'
import type { Host } from './screen.ts'

/** Longest text that is copied, since terminals drop longer ones. */
const COPIED_CHARS_MAX = 10_000
const SHOWN_COLUMNS = 60

/** Escape sequence (OSC 52) that puts text on the terminal's clipboard, also over ssh. */
export function clipboardSequence(text: string): string {
  return `\u001B]52;c;${Buffer.from(text.slice(0, COPIED_CHARS_MAX)).toString('base64')}\u0007`
}

/** Copies text to the clipboard and shows it, since some terminals do not allow copying. */
export function copy(host: Host, text: string): void {
  host.copy(text)
  showToast(host, { text: `copied  ${clip(text, SHOWN_COLUMNS)}`, tone: 'good', stays: false })
}

/** Area on which a saved screen is drawn, large enough for all its lines. */
const SAVED_AREA = { width: 160, height: 1_000 }

/** Saves all lines of the screen as text, with the current filter and columns. */
export function saveScreen(host: Host): void {
  const { screen, draw } = host.face.current
  saveLines(host, screen, draw(SAVED_AREA).map(textOf))
}

export function saveOutput(host: Host): void {
  saveLines(host, 'output', host.ui.get().output)
}

function saveLines(host: Host, name: string, lines: readonly string[]): void {
  const text = lines.map((line) => line.trimEnd()).join('\n')
  const saved = host.save?.(name, `${text.trimEnd()}\n`)
  if (saved === undefined) refuse(host, 'This cockpit cannot save files.')
  else if (!saved.ok) refuse(host, saved.problem.sentence)
  else showToast(host, { text: `✓ saved  ${saved.value}`, tone: 'good', stays: false })
}

const moneyWords: readonly (readonly [string, readonly string[]])[] = [
  ['out_', ['admin', 'payouts']],
  ['p_', ['admin', 'payees']],
]

/** Commands by id prefix. Subscriptions use the operator's list, since only the operator sees all of them. */
const marketWords: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ['plan_', (id) => ['plans', 'view', id]],
  ['sub_', (id) => ['admin', 'subs', 'list', '--filter', `id:${id}`]],
  ['post_', (id) => ['requests', 'view', id]],
  ['prod_', (id) => ['products', 'view', id]],
]

/** Words of the command that shows a row, by screen. */
const words: Readonly<Partial<Record<ScreenId, (id: string) => readonly string[]>>> = {
  services: (id) => marketWords.find(([prefix]) => id.startsWith(prefix))?.[1](id) ?? ['services', 'view', id],
  jobs: (id) => ['jobs', 'view', id],
  threads: (id) => ['admin', 'threads', 'view', id],
  crons: (id) => ['crons', 'view', id],
  compliance: () => ['admin', 'verification', 'list'],
  money: (id) => moneyWords.find(([prefix]) => id.startsWith(prefix))?.[1] ?? ['admin', 'holds'],
  endpoints: () => ['endpoints', 'list'],
  // Requests and deliveries have a trace.
  logs: (id) => (/^(?:req|whd)_/.test(id) ? ['why', id] : ['logs']),
  requests: (id) => ['requests', 'view', id],
  people: (id) => ['participants', 'view', id],
  clock: () => ['clock', 'show'],
}

/** Copies the commands that show the marked rows, or the chosen one. */
export function copyCommand(host: Host, screen: ScreenId, ids: readonly string[]): void {
  const known = words[screen]
  if (known === undefined || ids.length === 0) refuse(host, 'The selection has no command to copy.')
  else copy(host, [...new Set(ids.map((id) => shellCommand(host, known(id))))].join(' && '))
}
