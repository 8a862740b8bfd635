import type { ScreenId } from '../nouns/screens.ts'
import { clip, count, padEnd, safe, widthOf } from '../text/text.ts'
import { placeRows } from './elsewhere.ts'
import { putOffChoices } from './overview/put-off.ts'
import { atEnd, type Key, writtenLine } from './parts/keys.ts'
import { accent, blank, dim, type Line, marked, sized } from './parts/line.ts'
import { type Card, cardRows, openCard } from './people/card.ts'
import type { FoundByName } from './people/named.ts'
import { pipeRows } from './programs.ts'
import { screens } from './screens.ts'
import { askUser, refuse, shellCommand, showToast } from './shell/ask.ts'
import { bindingsOn, keysLabel, type Where } from './shell/bindings.ts'
import { commandDialog, commandIn, isRead, type Named, shownBy, showOutput, whyNot } from './shell/commands.ts'
import { savedForms, savedName, saveScreen } from './shell/copy.ts'
import { turnColumn } from './shell/finding.ts'
import { placeOf } from './shell/places.ts'
import type { CommandLine, Host, LineWord, ScreenArea } from './shell/screen.ts'
import { goTo, isPutAway, type Picker } from './shell/ui.ts'

/** A choice in a picker. Enter runs it or inserts its text. */
export type Pick = {
  readonly words: string
  readonly summary: string
  readonly key: string
  /** Draws the choice (default: by its words). */
  readonly line?: (width: number) => Line
} & (
  | { readonly does: 'do'; readonly act: () => void }
  | { readonly does: 'type'; readonly text: string }
  /** Runs the action of a key. */
  | { readonly does: 'key'; readonly text: Key }
)

const PICKS_MAX = 200

/** Keys of the screen that match the typed words. */
export function helpPicks(where: Where, typed: string): readonly Pick[] {
  const words = typed.toLowerCase().split(' ').filter(Boolean)
  return bindingsOn(where)
    .filter((binding) => {
      const hay = `${binding.group} ${keysLabel(binding)} ${binding.label}`.toLowerCase()
      return words.every((word) => hay.includes(word))
    })
    .map((binding) => ({
      words: binding.label,
      summary: binding.group.toLowerCase(),
      key: keysLabel(binding),
      does: 'key',
      text: binding.keys[0],
    }))
}

/** Columns of the list, and whether each is shown. */
export function columnPicks(host: Host, typed: string): readonly Pick[] {
  const { titles = [] } = host.face.current.list ?? {}
  return titles
    .slice(1)
    .filter((title) => title.toLowerCase().includes(typed.toLowerCase()))
    .map((title) => ({
      words: title,
      summary: isPutAway(host.ui.get(), title) ? 'hidden' : 'shown if there is room',
      key: isPutAway(host.ui.get(), title) ? '–' : '✓',
      does: 'do',
      act: () => turnColumn(host, title),
    }))
}

/** Rows of a person's card. */
export function cardPicks(host: Host, card: Card | undefined, typed: string): readonly Pick[] {
  return (card === undefined ? [] : cardRows(host, card))
    .filter(([label, words]) => `${label} ${words}`.toLowerCase().includes(typed.toLowerCase()))
    .map(([label, words, act]) => ({ ...done(words, '', act), key: label }))
}

/** Snooze durations. */
export function putOffPicks(host: Host, typed: string): readonly Pick[] {
  return putOffChoices(host)
    .filter(({ words }) => words.includes(typed.toLowerCase()))
    .map((choice) => ({ ...choice, key: '', does: 'do' }))
}

/** Forms in which the screen is saved. An ending in the typed name selects one. */
export function savePicks(host: Host, typed: string): readonly Pick[] {
  const { list, screen } = host.face.current
  const forms = savedForms.filter(({ isRows }) => list !== undefined || !isRows)
  const named = forms.find(({ ending }) => typed.toLowerCase().endsWith(`.${ending}`))
  return (named === undefined ? forms : [named]).map((form) => {
    const { ending, summary } = form
    const stem = named === undefined ? `${typed}.${ending}` : typed
    const name = typed === '' ? savedName(host, screen, ending) : stem
    return { ...done(name, summary, () => void saveScreen(host, form, name)), key: ending }
  })
}

/** Lines of the output that contain the typed words. Choosing a line with an id opens that record. */
export function outputPicks(host: Host, typed: string): readonly Pick[] {
  const words = typed.toLowerCase().split(' ').filter(Boolean)
  const lines = host.ui.get().output
  return lines
    .filter((line) => words.every((word) => line.toLowerCase().includes(word)))
    .map((line) => {
      const id = RECORD.exec(line)?.[0] ?? ''
      return { words: line, summary: '', key: '', does: 'do', act: () => placeOf(host, id)?.go() }
    })
}
const RECORD = /\b(?:[a-z]+_[0-9a-f]{16}|0x[0-9a-fA-F]{40})\b/

type Palette = {
  readonly host: Host
  readonly typed: string
  /** Completions of the typed line. */
  readonly next: readonly LineWord[]
  /** People, jobs and conversations with the typed name. */
  readonly named: FoundByName | undefined
}

export function palettePicks(palette: Palette): readonly Pick[] {
  const { host, typed, next, named } = palette
  if (typed.startsWith('@')) return elsewherePicks(host, typed.slice(1))
  if (typed.startsWith('!')) return shellPicks(host, typed.slice(1).trim())
  const line = host.commandLine
  const words = line?.split(typed) ?? []
  const whole = line === undefined ? [] : linePicks(host, line, words)
  const begun = typed.slice(0, typed.length - (/\S*$/.exec(typed)?.[0].length ?? 0))
  // Values with control characters are left out, since they cannot be displayed unchanged.
  const completed = next
    .filter(({ value }) => safe(value) === value)
    .map(
      ({ value, summary }): Pick => ({
        words: value,
        summary: safe(summary),
        key: '',
        does: 'type',
        text: `${begun}${value} `,
      }),
    )
  const found = named === undefined ? [] : namedPicks(host, typed.trim(), named)
  const picks = [
    ...recordPicks(host, typed.trim()),
    ...ownPicks(host, words),
    ...whole,
    ...screenPicks(host, typed),
    ...found,
    ...completed,
  ]
  return picks.slice(0, PICKS_MAX)
}

const done = (words: string, summary: string, act: () => void): Pick => ({ words, summary, key: '', does: 'do', act })

/** People with the typed name, and the number of their jobs and conversations. */
function namedPicks(host: Host, filter: string, { people, jobs, threads }: FoundByName): readonly Pick[] {
  const listed = (screen: 'jobs' | 'threads', total: number) =>
    total === 0
      ? []
      : [done(`${count(total)} ${screen}`, `of ${filter}`, () => go(host, screen, { filter, sort: undefined }))]
  const cards = people.map(({ id, name, words }) => done(name, `person: ${words}`, () => void openCard(host, [id])))
  return [...cards, ...listed('jobs', jobs), ...listed('threads', threads)]
}

/** A choice that opens the record of a typed id or wallet. */
function recordPicks(host: Host, id: string): readonly Pick[] {
  const place = placeOf(host, id)
  const line = host.commandLine
  if (place === undefined) return line && TRACED.test(id) ? linePicks(host, line, ['why', id]) : []
  const title = screens.find((screen) => screen.id === place.screen)?.title ?? place.screen
  const card = place.screen === 'people' ? [done(id, 'the person', () => void openCard(host, [id]))] : []
  return [...card, done(id, `go to it in ${title}`, place.go)]
}
/** Ids of receipts and HTTP requests: they are in no list, but `souk why` traces them. */
const TRACED = /^(?:rcp|req)_[0-9a-f]{16}$/

/** A choice that runs the typed shell command. */
function shellPicks(host: Host, line: string): readonly Pick[] {
  const summary = host.face.current.list === undefined ? 'run in a shell' : 'pipe the rows into it, as JSON lines'
  return line === '' ? [] : [done(`! ${line}`, summary, () => void pipeRows(host, line))]
}

/** Choices that read keys and colors again. */
function ownPicks(host: Host, [first, theme, ...more]: readonly string[]): readonly Pick[] {
  if (host.reload === undefined || more.length > 0) return []
  if (first === 'reload' && theme === undefined)
    return [done('reload', 'read keys.json and the skin again', () => void reload(host))]
  if (first !== 'theme' || theme === undefined) return []
  return [done(`theme ${theme}`, 'use this theme or skin', () => void reload(host, theme))]
}

async function reload(host: Host, theme?: string): Promise<void> {
  const found = await host.reload?.(theme)
  if (found === undefined) return
  const [fault] = found.ok ? found.value.faults : [found.problem.sentence]
  if (fault !== undefined) refuse(host, safe(fault))
  else showToast(host, { text: '✓ keys and colors are read again', tone: 'good', stays: false })
}

/** Marketplaces. */
function elsewherePicks(host: Host, typed: string): readonly Pick[] {
  return placeRows(host, typed.trim()).map(({ name, words, line }) => {
    return { ...done(words, '', () => name !== undefined && host.elsewhere?.go(name)), line }
  })
}

function screenPicks(host: Host, typed: string): readonly Pick[] {
  const [first = '', ...said] = typed.trim().split(/\s+/)
  const rest = said.length === 0 ? [] : (host.commandLine?.split(typed)?.slice(1) ?? said)
  // If a word begins with `--`, the words are read as list flags. Otherwise, or if that fails, they are a filter.
  const flagged = rest.some((word) => word.startsWith('--')) ? viewIn(rest) : undefined
  const view = flagged ?? { filter: rest.length === 0 ? undefined : rest.join(' '), sort: undefined }
  const by = [view.filter && `filtered by ${view.filter}`, view.sort && `by ${view.sort}`].filter(Boolean)
  return screens
    .filter(
      ({ id, title }) => id.startsWith(first.toLowerCase()) || title.toLowerCase().startsWith(first.toLowerCase()),
    )
    .filter(({ id }) => rest.length === 0 || id === first)
    .map(({ id, title, digit }) => ({
      words: [id, ...said].join(' '),
      summary: [`go to ${title}`, ...by].join(', '),
      key: digit ?? '',
      does: 'do',
      act: () => go(host, id, view),
    }))
}

/** What enter does with the typed line. */
function linePicks(host: Host, line: CommandLine, words: readonly string[]): readonly Pick[] {
  if (words[0] === 'as' && words.length <= 2) return [speakPick(host, words[1])]
  const named = commandIn(line, words)
  if (named === undefined) return []
  const [screen] = shownBy[named.name] ?? []
  const view = screen && viewIn(named.rest)
  if (screen && view) {
    const title = screens.find(({ id }) => id === screen)?.title ?? screen
    const by = [view.filter, view.sort && `by ${view.sort}`].filter(Boolean).join(', ')
    const summary = `go to ${title}${by === '' ? '' : `: ${by}`}`
    return [done(words.join(' '), summary, () => go(host, screen, { ...view, command: named.name }))]
  }
  return [done(words.join(' '), named.summary, () => runLine(host, line, named))]
}

/** Opens what a command shows, as the palette does. @returns false if the command changes data or cannot run here */
export function openLine(host: Host, typed: string): boolean {
  const line = host.commandLine
  const words = line?.split(typed) ?? []
  const named = line && commandIn(line, words)
  const [pick] = named && line && (shownBy[named.name] || isRead(named)) ? linePicks(host, line, words) : []
  if (pick?.does === 'do') pick.act()
  return pick !== undefined
}

/** A pick that sets the wallet for writing messages. It changes no data, so the user is not asked to confirm. */
function speakPick(host: Host, wallet: string | undefined): Pick {
  const summary = wallet === undefined ? 'stop writing as another wallet' : `write as ${wallet} in Threads`
  const words = wallet === undefined ? 'as' : `as ${wallet}`
  return done(words, summary, () => void import('./threads/speaking.ts').then(({ speakAs }) => speakAs(host, wallet)))
}

type ListView = { readonly filter: string | undefined; readonly sort: string | undefined }

/** Reads list flags as filter and sort. Undefined if one of the flags is no list flag. */
function viewIn(words: readonly string[]): ListView | undefined {
  const parted = words.flatMap((word) => (word.startsWith('--') && word.includes('=') ? partsOf(word) : [word]))
  const flags = parted.filter((_, i) => i % 2 === 0)
  const values = parted.filter((_, i) => i % 2 === 1)
  if (flags.length !== values.length || flags.some((flag) => !viewFlags.includes(flag))) return undefined
  const filters = flags.flatMap((flag, i) => {
    if (flag === '--sort') return []
    return [flag === '--status' ? `status:${values[i]}` : (values[i] ?? '')]
  })
  return { filter: filters.length === 0 ? undefined : filters.join(' '), sort: values[flags.lastIndexOf('--sort')] }
}

const viewFlags = ['--filter', '--status', '--sort']

function partsOf(word: string): readonly [string, string] {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}

function go(
  host: Host,
  screen: ScreenId,
  { filter, sort, command = '' }: ListView & { readonly command?: string },
): void {
  const ui = goTo(host.ui.get(), screen)
  const filters = filter === undefined ? ui.filters : { ...ui.filters, [screen]: filter }
  const sorts = sort === undefined ? ui.sorts : { ...ui.sorts, [screen]: sort }
  // With a filter, all views are searched.
  const views = filter === undefined ? {} : { jobView: 'all' as const, threadView: 'all' as const }
  host.ui.set({ ...ui, ...views, ...shownBy[command]?.[1]?.(ui), filters, sorts, pages: { ...ui.pages, [screen]: 0 } })
}

function runLine(host: Host, line: CommandLine, named: Named): void {
  const problem = whyNot(named)
  if (problem !== undefined) refuse(host, `${problem}.`)
  else if (isRead(named)) void showOutput(host, line, named)
  else if (host.readonly)
    refuse(host, `This cockpit is read-only: it runs no command.  → ${shellCommand(host, ['tui'])}`)
  else askUser(host, commandDialog(host, line, named))
}

const CUT_ID = /\b[a-z]+_[0-9a-f]*…$/

/** Cuts a text to a width. An id that would be cut is dropped whole. */
const cut = (text: string, width: number) => clip(text, width).replace(CUT_ID, '…')

const WORDS_COLUMNS = 34
const KEY_COLUMNS = 8
const SUMMARY_COLUMNS = 40
const CARD_LABEL_COLUMNS = 8

export function pickerLines(picker: Picker, picks: readonly Pick[], area: ScreenArea): Line[] {
  const inner = area.width
  const room = Math.max(1, area.height - 2)
  const at = Math.min(picker.at, picks.length - 1)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), picks.length - room))
  const sign = signs[picker.kind]
  const typed: Line = [
    accent(` ${sign}`),
    ...writtenLine({ text: picker.text, cursor: picker.cursor ?? atEnd }, inner - sign.length - 1),
    picker.text === '' ? dim(placeholders[picker.kind]) : '',
  ]
  const widest = Math.max(0, ...picks.map(({ words }) => widthOf(words)))
  // In narrow windows the words leave room for what they do.
  const columns = Math.min(WORDS_COLUMNS, Math.max(widest, inner - SUMMARY_COLUMNS))
  const rows = picks.slice(from, from + room).map((pick, i): Line => {
    return marked(sized(pickLine(pick, picker.kind, { inner, columns }), inner), from + i === at)
  })
  const none: Line[] = picks.length === 0 ? [[dim(noneWords[picker.kind])]] : []
  return [typed, blank, ...rows, ...none]
}

type PickRoom = { readonly inner: number; readonly columns: number }

function pickLine({ words, summary, key, line }: Pick, kind: Picker['kind'], { inner, columns }: PickRoom): Line {
  if (line) return line(inner)
  if (kind === 'output') return [' ', clip(words, inner - 1)]
  if (kind === 'card') return [' ', dim(padEnd(key, CARD_LABEL_COLUMNS)), cut(words, inner - CARD_LABEL_COLUMNS - 1)]
  if (kind !== 'palette') {
    return ['  ', accent(padEnd(key, KEY_COLUMNS + 4)), padEnd(words, columns), dim(`  ${summary}`)]
  }
  const room = inner - columns - KEY_COLUMNS
  return ['  ', padEnd(cut(words, columns), columns), '  ', dim(padEnd(cut(summary, room - 1), room)), accent(key)]
}

const signs = { palette: ':', help: '?', columns: '', putOff: '', output: '/', card: '', save: '' } as const

const placeholders = {
  palette: '  a screen or a command, such as jobs --filter "late:yes"',
  help: '  type to search',
  columns: '  type to search',
  putOff: '  saved on this machine only; souk attention still lists it',
  output: '  type to search',
  card: '  type to search',
  save: '  type another name; .csv, .ndjson, .txt or .svg',
} as const

const noneWords = {
  palette: '  no such command',
  help: '  no such key here',
  columns: '  no matching column',
  putOff: '  no such duration',
  output: '  no matching line',
  card: '  asking…',
  save: '  no rows here: a name may end in .txt or .svg',
} as const
