import { printable, withoutMarks } from '../../text/text.ts'
import type { Command, Entry } from '../command.ts'
import { type GlobalOption, globalOptions, takesValue } from '../globals.ts'
import { flagOf, membersOf, type OptionShape } from '../option-shape.ts'

export type Candidate = { readonly value: string; readonly summary: string }

/** Request for values that completion cannot derive from the commands, such as wallet names. */
export type WantedValues = {
  readonly command: Command | undefined
  readonly member: string
  readonly isOption: boolean
  /** Positionals already typed. */
  readonly before: readonly string[]
  /** The typed prefix. */
  readonly begun: string
}

export type Asking = {
  readonly entries: readonly Entry[]
  /** Words after the program; the last one is being typed. */
  readonly words: readonly string[]
  /** Finds values for positionals and options that declare no choices. */
  readonly values: (wanted: WantedValues) => Promise<readonly Candidate[]>
}

type Flag = {
  readonly names: readonly string[]
  readonly key: string
  readonly summary: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

/** What the words before the typed one mean: a noun or command, its positionals, and an option that needs a value. */
type Place = { noun: string; entry?: Entry | undefined; positionals: readonly string[]; open?: Flag | undefined }

/** Completions for the last word, derived from the commands. */
export async function candidates(asking: Asking): Promise<readonly Candidate[]> {
  const current = asking.words.at(-1) ?? ''
  const place = await placeBehind(asking.entries, asking.words.slice(0, -1))
  const all = await possible(asking, place, current)
  return all.filter(({ value }) => value.startsWith(current) && isWord(value))
}

/** Whether a word is safe to type and display. */
function isWord(value: string): boolean {
  return value !== '' && printable(withoutMarks(value)) === value && !/[\t\n]/.test(value)
}

async function possible(asking: Asking, place: Place, current: string): Promise<readonly Candidate[]> {
  if (place.open) return valuesOf(asking, place, { flag: place.open, begun: current })
  if (!current.startsWith('-')) {
    return place.entry ? positional(asking, place, current) : below(asking, place, current)
  }
  const flags = await flagsOf(place.entry)
  const at = current.indexOf('=')
  if (at < 0) return flags.flatMap(({ names, summary }) => names.map((one) => ({ value: one, summary })))
  const name = current.slice(0, at)
  const flag = flags.find(({ names }) => names.includes(name))
  const found = flag ? await valuesOf(asking, place, { flag, begun: current.slice(at + 1) }) : []
  return found.map((one) => ({ ...one, value: `${name}=${one.value}` }))
}

type Begun = { readonly flag: Flag; readonly begun: string }

async function valuesOf({ values }: Asking, { entry, positionals }: Place, { flag, begun }: Begun) {
  if (flag.choices.length > 0) return flag.choices.map((value) => ({ value, summary: '' }))
  const command = entry && (await load(entry))
  return values({ command, member: flag.key, isOption: true, before: positionals, begun })
}

/** The words that can follow a noun. If the noun has a default command, also that command's positionals. */
async function below(asking: Asking, { noun }: Place, begun: string): Promise<readonly Candidate[]> {
  const found = new Map<string, string>()
  const depth = noun === '' ? 0 : noun.split(' ').length
  for (const entry of asking.entries.filter(({ hidden }) => !hidden)) {
    if (noun !== '' && !entry.name.startsWith(`${noun} `)) continue
    const rest = entry.name.split(' ').slice(depth)
    const [next = ''] = rest
    // Nouns are described by their verbs.
    const verbs = [found.get(next), rest[1]].filter(Boolean).join(', ')
    found.set(next, rest.length === 1 ? entry.summary : verbs)
  }
  const words = [...found].map(([value, summary]) => ({ value, summary }))
  const entry = asking.entries.find((one) => one.isDefault && one.name.startsWith(`${noun} `))
  return entry ? [...words, ...(await positional(asking, { noun, entry, positionals: [] }, begun))] : words
}

async function positional({ values }: Asking, { entry, positionals }: Place, begun: string) {
  if (!entry) return []
  const command = await load(entry)
  const members = membersOf(command.args)
  const [member, shape] = members[positionals.length] ?? members.filter(([, { list }]) => list).at(-1) ?? []
  if (member === undefined || shape === undefined) return []
  if (shape.choices.length > 0) return shape.choices.map((value) => ({ value, summary: '' }))
  return values({ command, member, isOption: false, before: positionals, begun })
}

async function placeBehind(entries: readonly Entry[], words: readonly string[]): Promise<Place> {
  const place: Place = { noun: '', positionals: [] }
  for (const word of words) {
    if (place.open) place.open = undefined
    else if (word.startsWith('-')) place.open = await openedBy(word, place.entry)
    else if (place.entry) place.positionals = [...place.positionals, word]
    else step(place, entries, word)
  }
  return place
}

function step(place: Place, entries: readonly Entry[], word: string): void {
  const name = place.noun === '' ? word : `${place.noun} ${word}`
  if (entries.some((entry) => entry.name.startsWith(`${name} `))) {
    place.noun = name
    return
  }
  place.entry = entries.find((entry) => entry.name === name)
  if (place.entry) return
  place.entry = entries.find((entry) => entry.isDefault && entry.name.startsWith(`${place.noun} `))
  place.positionals = [word]
  // Unknown noun: nothing.
  if (!place.entry) place.noun = name
}

/** The flag that `word` names, if the next word is its value. */
async function openedBy(word: string, entry: Entry | undefined): Promise<Flag | undefined> {
  const flag = (await flagsOf(entry)).find(({ names }) => names.includes(word))
  return flag?.takesValue ? flag : undefined
}

async function flagsOf(entry: Entry | undefined): Promise<readonly Flag[]> {
  const own = entry ? membersOf((await load(entry)).options).map(ownFlag) : []
  const taken = new Set(own.flatMap(({ names }) => names))
  const others = globalOptions.filter((option) => !('hidden' in option)).map(globalFlag)
  return [...own, ...others.filter(({ names }) => !names.some((name) => taken.has(name))), help]
}

const help: Flag = { names: ['--help'], key: 'help', summary: 'explain this', takesValue: false, choices: [] }

function ownFlag([key, shape]: readonly [string, OptionShape]): Flag {
  const short = shape.short === undefined ? [] : [`-${shape.short}`]
  const { summary, choices } = shape
  return { names: [flagOf(key, shape), ...short], key, summary, choices, takesValue: shape.kind !== 'flag' }
}

function globalFlag(option: GlobalOption): Flag {
  const names = option.flags.match(/--?[\w-]+/g) ?? []
  return {
    names,
    key: option.key,
    summary: option.summary,
    choices: option.choices ?? [],
    takesValue: takesValue(option),
  }
}

async function load(entry: Entry): Promise<Command> {
  return (await entry.load()).command
}
