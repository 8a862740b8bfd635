import type { Outcome } from '../client/link.ts'
import { listsPlaces } from './elsewhere.ts'
import { atEnd, edited, inserted, type Key, type Written } from './parts/keys.ts'
import { type Card, cardTitle, fetchCard } from './people/card.ts'
import { fetchNamed } from './people/named.ts'
import {
  cardPicks,
  columnPicks,
  helpPicks,
  outputPicks,
  type Pick,
  palettePicks,
  putOffPicks,
  savePicks,
} from './picker.ts'
import { saveOutput } from './shell/copy.ts'
import { SLOW_EVERY_MS } from './shell/queries.ts'
import { type Fetch, ONCE_MS } from './shell/query.ts'
import type { Host, LineWord } from './shell/screen.ts'
import type { Picker } from './shell/ui.ts'

const TEXT_CHARS_MAX = 300
const LINES_KEPT = 50

/** Fetches the completions of the typed line. */
export const nextWords =
  (host: Host, picker: Picker | undefined) => async (): Promise<Outcome<readonly LineWord[]>> => {
    const line = host.commandLine
    const words = picker?.kind === 'palette' ? line?.split(picker.text) : undefined
    if (line === undefined || picker === undefined || words === undefined) return { ok: true, value: [] }
    const isBegun = picker.text !== '' && !picker.text.endsWith(' ')
    return { ok: true, value: await line.complete(isBegun ? words : [...words, '']) }
  }

export function nextWordsName(picker: Picker | undefined): string {
  return picker?.kind === 'palette' ? `line ${picker.text}` : 'no line'
}

/** The query for an open card. */
export function cardQuery(
  { link }: Host,
  picker: Picker | undefined,
): { name: string; fetch: Fetch<Card | undefined> } {
  const [who] = (picker?.kind === 'card' && picker.who) || []
  return {
    name: `card ${who?.id ?? ''}`,
    fetch: who ? fetchCard(link, who.id) : async () => ({ ok: true, value: undefined }),
  }
}

const cardOf = (host: Host, picker: Picker) => {
  const { name, fetch } = cardQuery(host, picker)
  return host.queries.open(name, fetch, SLOW_EVERY_MS).get().value
}

/** The picker, with a title that tells what it lists. */
export function titled(host: Host, picker: Picker): Picker {
  const card = picker.kind === 'card' ? cardOf(host, picker) : undefined
  if (listsPlaces(picker)) return { ...picker, title: 'Marketplaces' }
  return card ? { ...picker, title: cardTitle(card, picker.who?.[0]?.role ?? '') } : picker
}

/** The query for a name that is typed in the palette. */
export function namedQuery({ link }: Host, picker: Picker | undefined, typed: string) {
  const name = picker?.kind === 'palette' && NAME.test(typed.trim()) ? typed.trim() : ''
  return { name: `named ${name}`, fetch: fetchNamed(link, name) }
}
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{2,39}$/u

export function picksOf(host: Host, picker: Picker): readonly Pick[] {
  const { screen } = host.ui.get()
  if (picker.kind === 'help') return helpPicks({ screen, readonly: host.readonly, keys: host.keys }, picker.text)
  if (picker.kind === 'columns') return columnPicks(host, picker.text)
  if (picker.kind === 'output') return outputPicks(host, picker.text)
  if (picker.kind === 'save') return savePicks(host, picker.text)
  if (picker.kind === 'putOff') return putOffPicks(host, picker.text)
  if (picker.kind === 'card') return cardPicks(host, cardOf(host, picker), picker.text)
  const next = host.queries.open(nextWordsName(picker), nextWords(host, picker), ONCE_MS).get().value ?? []
  const { name, fetch } = namedQuery(host, picker, picker.text)
  const named = host.queries.open(name, fetch, ONCE_MS).get().value
  return palettePicks({ host, typed: picker.text, next, named })
}

type PickerStep =
  | { readonly to: 'stay'; readonly picker: Picker }
  | { readonly to: 'close' }
  | { readonly to: 'do'; readonly act: () => void }
  /** Runs the action of a key. */
  | { readonly to: 'key'; readonly key: Key }

export function pickerKey(host: Host, picker: Picker, pressed: Key): PickerStep {
  const key = pressed === 'space' && picker.kind === 'columns' ? 'enter' : pressed
  const out = wayOut(host, picker, key) ?? (picker.kind === 'card' ? cardKey(host, picker, key) : undefined)
  if (out !== undefined) return out
  if (key === 'enter' || key === 'tab') return picked(host, picker, key)
  if (key === 'up' && picker.at === 0 && picker.kind === 'palette') {
    return { to: 'stay', picker: rewritten(picker, { text: earlier(host, picker.text), cursor: atEnd }) }
  }
  const by = steps[key]
  if (by !== undefined) return { to: 'stay', picker: moved(host, picker, by) }
  if (key === 'ctrl-s' && picker.kind === 'output') return { to: 'do', act: () => saveOutput(host) }
  return { to: 'stay', picker: rewritten(picker, edited(writtenIn(picker), key, TEXT_CHARS_MAX)) }
}

/** Tab shows the other party of the row. While no text is typed, the key of an action starts the action. */
function cardKey(host: Host, picker: Picker, key: Key): PickerStep | undefined {
  const { who = [], text } = picker
  if (key === 'tab') return { to: 'stay', picker: { ...picker, who: [...who.slice(1), ...who.slice(0, 1)], at: 0 } }
  const row = text === '' ? picksOf(host, picker).find((one) => one.key === key) : undefined
  return row?.does === 'do' ? { to: 'do', act: row.act } : undefined
}

const PAGE_LINES = 10
const steps: Readonly<Partial<Record<Key, number>>> = { up: -1, down: 1, pageup: -PAGE_LINES, pagedown: PAGE_LINES }

function wayOut({ keys }: Host, { kind, text }: Picker, key: Key): PickerStep | undefined {
  const isHelp = kind === 'help' && keys.find(({ action }) => action === 'help')?.keys.includes(key)
  if (key === 'esc' || (text === '' && (closing.includes(key) || isHelp))) return { to: 'close' }
  // A digit in the help opens the screen with that number.
  return text === '' && kind === 'help' && /^\d$/.test(key) ? { to: 'key', key } : undefined
}

/** Keys that close a picker if nothing is typed in it. */
const closing: readonly Key[] = ['backspace', 'delete']

export const writtenIn = ({ text, cursor = atEnd }: Picker): Written => ({ text, cursor })

/** A changed text has other choices, so the cursor goes back to the first choice. */
function rewritten(picker: Picker, written: Written): Picker {
  return { ...picker, ...written, at: written.text === picker.text ? picker.at : 0 }
}

export function pickerPaste(picker: Picker, text: string): Picker {
  return rewritten(picker, inserted(writtenIn(picker), text, TEXT_CHARS_MAX))
}

function moved(host: Host, picker: Picker, by: number): Picker {
  const most = picksOf(host, picker).length - 1
  return { ...picker, at: Math.max(0, Math.min(picker.at + by, most)) }
}

/** Shows or hides a column. The picker stays open, so that further columns can be chosen. */
function turned(host: Host, picker: Picker): PickerStep {
  const chosen = picksOf(host, picker)[picker.at]
  if (chosen?.does === 'do') chosen.act()
  return { to: 'stay', picker }
}

function picked(host: Host, picker: Picker, key: Key): PickerStep {
  if (picker.kind === 'columns') return turned(host, picker)
  const picks = picksOf(host, picker)
  const chosen = picks[picker.at]
  // Help without typed text shows no choices; keys only scroll it.
  if (chosen === undefined || (picker.kind === 'help' && picker.text === '')) return { to: 'stay', picker }
  const completion = key === 'tab' && chosen.does !== 'type' ? picks.find(({ does }) => does === 'type') : chosen
  if (completion?.does === 'type')
    return { to: 'stay', picker: rewritten(picker, { text: completion.text, cursor: atEnd }) }
  if (key === 'tab') return { to: 'stay', picker }
  if (chosen.does === 'key') return { to: 'key', key: chosen.text }
  return {
    to: 'do',
    act() {
      if (picker.kind === 'palette') keepLine(host, picker.text)
      if (chosen.does === 'do') chosen.act()
    },
  }
}

function keepLine({ ui }: Host, text: string): void {
  const { lines } = ui.get()
  ui.set({ ...ui.get(), lines: [...lines.filter((line) => line !== text), text].slice(-LINES_KEPT) })
}

/** The line before `text` in the history, or else the newest line. */
function earlier(host: Host, text: string): string {
  const { lines } = host.ui.get()
  const at = lines.indexOf(text)
  return lines.at(at > 0 ? at - 1 : -1) ?? text
}
