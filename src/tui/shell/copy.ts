import type { ScreenId } from '../../model/words.ts'
import { clip } from '../../text/text.ts'
import { textOf } from '../parts/line.ts'
import { refuse, showToast } from './ask.ts'
import { shellCommand } from './pause-dialog.ts'
import type { Host } from './screen.ts'

/** Copy limit; terminals drop longer text. */
const COPIED_CHARS_MAX = 10_000
const SHOWN_COLUMNS = 60

/** OSC 52 sequence, which works over ssh. */
export function clipboardSequence(text: string): string {
  return `\u001B]52;c;${Buffer.from(text.slice(0, COPIED_CHARS_MAX)).toString('base64')}\u0007`
}

/** Copies and shows text, since some terminals refuse. */
export function copy(host: Host, text: string): void {
  host.copy(text)
  showToast(host, { text: `copied  ${clip(text, SHOWN_COLUMNS)}`, tone: 'good', stays: false })
}

/** Large enough for all lines of a screen, not only the visible ones. */
const SAVED_AREA = { width: 160, height: 1_000 }

/** Saves the screen as text, with the current filter and columns. */
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
  if (saved === undefined) refuse(host, 'Nothing can be saved from here.')
  else if (!saved.ok) refuse(host, saved.problem.sentence)
  else showToast(host, { text: `✓ saved  ${saved.value}`, tone: 'good', stays: false })
}

/** By id prefix. */
const moneyWords: readonly (readonly [string, readonly string[]])[] = [
  ['out_', ['admin', 'payouts']],
  ['p_', ['admin', 'payees']],
]

/** Market commands; subscriptions are visible to their parties and the operator. */
const marketWords: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ['plan_', (id) => ['plans', 'view', id]],
  ['sub_', (id) => ['admin', 'subs', 'list', '--filter', `id:${id}`]],
  ['post_', (id) => ['requests', 'view', id]],
  ['prod_', (id) => ['products', 'view', id]],
]

/** Command of the chosen row by screen. */
const words: Readonly<Partial<Record<ScreenId, (id: string) => readonly string[]>>> = {
  services: (id) => marketWords.find(([prefix]) => id.startsWith(prefix))?.[1](id) ?? ['services', 'view', id],
  jobs: (id) => ['jobs', 'view', id],
  threads: (id) => ['admin', 'threads', 'view', id],
  crons: (id) => ['crons', 'view', id],
  compliance: () => ['admin', 'verification', 'list'],
  money: (id) => moneyWords.find(([prefix]) => id.startsWith(prefix))?.[1] ?? ['admin', 'holds'],
  endpoints: () => ['endpoints', 'list'],
  // Rows with a trace use their id.
  logs: (id) => (/^(?:req|whd)_/.test(id) ? ['why', id] : ['logs']),
  requests: (id) => ['requests', 'view', id],
  people: (id) => ['participants', 'view', id],
  clock: () => ['clock', 'show'],
}

/** Copies the commands of the current rows. */
export function copyCommand(host: Host, screen: ScreenId, ids: readonly string[]): void {
  const known = words[screen]
  if (known === undefined || ids.length === 0) refuse(host, 'The selection has no command to copy.')
  else copy(host, [...new Set(ids.map((id) => shellCommand(host, known(id))))].join(' && '))
}
