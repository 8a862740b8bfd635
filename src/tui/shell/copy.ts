import type { Outcome } from '../../client/link.ts'
import { nounScreens, type ScreenId } from '../../nouns/screens.ts'
import { clip } from '../../text/text.ts'
import { textOf } from '../parts/line.ts'
import { refuse, shellCommand, showToast } from './ask.ts'
import { allRows, csvOf, ndjsonOf } from './rows.ts'
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

type SavedForm = {
  readonly ending: string
  readonly summary: string
  /** Whether it saves the rows of a list. */
  readonly isRows: boolean
  readonly textOf: (host: Host) => Promise<Outcome<Saved>>
}
/** A text, and how many rows it has, in words. */
type Saved = { readonly text: string; readonly words: string }

/** What a screen is saved as, by the ending of the file's name. */
export const savedForms: readonly SavedForm[] = [
  { ending: 'csv', summary: 'all rows of the filter, shown columns', isRows: true, textOf: rowsAs(csvOf) },
  { ending: 'ndjson', summary: 'all rows of the filter, as JSON lines', isRows: true, textOf: rowsAs(ndjsonOf) },
  {
    ending: 'txt',
    summary: 'the screen as text',
    isRows: false,
    textOf: async ({ face }) => whole(linesText(face.current.draw(SAVED_AREA).map(textOf))),
  },
  {
    ending: 'svg',
    summary: 'the frame as a picture',
    isRows: false,
    async textOf({ face, look }) {
      const lines = face.current.frame?.() ?? []
      return whole((await import('../parts/svg.ts')).svgOf(lines, look() ?? { theme: 'dark' }))
    },
  },
]

const whole = (text: string): Outcome<Saved> => ({ ok: true, value: { text, words: '' } })

function rowsAs(form: typeof csvOf): SavedForm['textOf'] {
  return async ({ face, ui }) => {
    const { list } = face.current
    if (list === undefined) return whole('')
    const shown = ui.get()
    const all = await allRows(list, new AbortController().signal)
    if (!all.ok) return all
    return { ok: true, value: { text: form(all.value.rows, list, shown), words: all.value.words } }
  }
}

const linesText = (lines: readonly string[]) =>
  `${lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd()}\n`

export function savedName({ clock }: Host, name: string, ending: string): string {
  return `souk-${name}-${clock.now()}.${ending}`
}

/** Saves the screen to a file in the form that its ending names. */
export async function saveScreen(host: Host, { textOf: read }: SavedForm, name: string): Promise<void> {
  const found = await read(host)
  if (found.ok) saveText(host, name, found.value)
  else refuse(host, found.problem.sentence)
}

export function saveOutput(host: Host): void {
  saveText(host, savedName(host, 'output', 'txt'), { text: linesText(host.ui.get().output), words: '' })
}

function saveText(host: Host, name: string, { text, words }: Saved): void {
  const saved = host.save?.(name, text)
  if (saved === undefined) refuse(host, 'This cockpit cannot save files.')
  else if (!saved.ok) refuse(host, saved.problem.sentence)
  else
    showToast(host, { text: `✓ saved  ${saved.value}${words === '' ? '' : `  ${words}`}`, tone: 'good', stays: false })
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
  ...Object.fromEntries(nounScreens.map(({ id, command }) => [id, () => command.split(' ')])),
}

/** Copies the commands that show the marked rows, or the chosen one. */
export function copyCommand(host: Host, screen: ScreenId, ids: readonly string[]): void {
  const known = words[screen]
  if (known === undefined || ids.length === 0) refuse(host, 'The selection has no command to copy.')
  else copy(host, [...new Set(ids.map((id) => shellCommand(host, known(id))))].join(' && '))
}
