import type { ScreenId } from '../../model/words.ts'
import { clip } from '../../text/text.ts'
import { refuse, showToast } from './ask.ts'
import { shellCommand } from './pause-dialog.ts'
import type { Host } from './screen.ts'

/** Longer than any command or id; terminals drop what is much longer. */
const COPIED_CHARS_MAX = 10_000
const SHOWN_COLUMNS = 60

/** What a terminal takes for its clipboard, over ssh too. */
export function clipboardSequence(text: string): string {
  return `\u001B]52;c;${Buffer.from(text.slice(0, COPIED_CHARS_MAX)).toString('base64')}\u0007`
}

/** Hands something to the terminal's clipboard, and shows it: not every terminal lets it in. */
export function copy(host: Host, text: string): void {
  host.copy(text)
  showToast(host, { text: `copied  ${clip(text, SHOWN_COLUMNS)}`, tone: 'good', stays: false })
}

/** By what ids begin with. */
const moneyWords: readonly (readonly [string, readonly string[]])[] = [
  ['out_', ['admin', 'payouts']],
  ['p_', ['admin', 'payees']],
]

/** Of what the market has besides listings: a subscription is shown to its sides alone, and found by the operator. */
const marketWords: readonly (readonly [string, (id: string) => readonly string[]])[] = [
  ['plan_', (id) => ['plans', 'view', id]],
  ['sub_', (id) => ['admin', 'subs', 'list', '--filter', `id:${id}`]],
  ['post_', (id) => ['requests', 'view', id]],
  ['prod_', (id) => ['products', 'view', id]],
]

/** The command that shows the chosen row of each screen, as a person would type it. */
const words: Readonly<Partial<Record<ScreenId, (id: string) => readonly string[]>>> = {
  services: (id) => marketWords.find(([prefix]) => id.startsWith(prefix))?.[1](id) ?? ['services', 'view', id],
  jobs: (id) => ['jobs', 'view', id],
  threads: (id) => ['admin', 'threads', 'view', id],
  crons: (id) => ['crons', 'view', id],
  compliance: () => ['admin', 'verification', 'list'],
  money: (id) => moneyWords.find(([prefix]) => id.startsWith(prefix))?.[1] ?? ['admin', 'holds'],
  endpoints: () => ['endpoints', 'list'],
  // What has a story is told by its id; a line of the log has none of its own.
  logs: (id) => (/^(?:req|whd)_/.test(id) ? ['why', id] : ['logs']),
  requests: (id) => ['requests', 'view', id],
  people: (id) => ['participants', 'view', id],
  clock: () => ['clock', 'show'],
}

/** Copies the commands that are the same as what is looked at. */
export function copyCommand(host: Host, screen: ScreenId, ids: readonly string[]): void {
  const known = words[screen]
  if (known === undefined || ids.length === 0) refuse(host, 'There is nothing chosen that a command would show.')
  else copy(host, [...new Set(ids.map((id) => shellCommand(host, known(id))))].join(' && '))
}
