import type { Command, Entry } from '../command.ts'
import { type GlobalOption, globalOptions, takesValue } from '../globals.ts'
import { flagOf, membersOf, type OptionShape } from './schema.ts'

/** A word that may come next. */
export type Candidate = { readonly value: string; readonly summary: string }

/** Something of which only the caller knows what there is: names of wallets, ids of services. */
export type WantedValues = { readonly command: string; readonly member: string }

export type Asking = {
  readonly entries: readonly Entry[]
  /** Words behind the program's name; the last one is being typed and may be empty. */
  readonly words: readonly string[]
  /** Values of a positional or of an option that names none itself. */
  readonly values: (wanted: WantedValues) => Promise<readonly Candidate[]>
}

/** One flag as completion sees it. */
type Flag = {
  readonly names: readonly string[]
  readonly key: string
  readonly summary: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

/** How far a line has come: the noun, or the command, and how many of its positionals stand. */
type Place = { noun: string; entry?: Entry | undefined; positionals: number; open?: Flag | undefined }

/** Words that may stand where the last one is being typed; all of it follows from the commands themselves. */
export async function candidates(asking: Asking): Promise<readonly Candidate[]> {
  const { words, bare } = joined(asking.words)
  const current = words.at(-1) ?? ''
  const place = await placeBehind(asking.entries, words.slice(0, -1))
  const all = await possible(asking, place, current)
  const found = all.filter(({ value }) => value.startsWith(current))
  return bare ? found.map((one) => ({ ...one, value: one.value.slice(current.indexOf('=') + 1) })) : found
}

/** bash gives `--status=li` as three words; then it wants the value alone. */
function joined(words: readonly string[]): { words: readonly string[]; bare: boolean } {
  const at = words.at(-1) === '=' ? words.length - 1 : words.length - 2
  const flag = words[at - 1]
  if (words[at] !== '=' || !flag?.startsWith('--')) return { words, bare: false }
  return { words: [...words.slice(0, at - 1), `${flag}=${words[at + 1] ?? ''}`], bare: true }
}

async function possible(asking: Asking, place: Place, current: string): Promise<readonly Candidate[]> {
  if (place.open) return valuesOf(asking, place, place.open)
  if (!current.startsWith('-')) return place.entry ? positional(asking, place) : below(asking, place)
  const flags = await flagsOf(place.entry)
  const [name = '', ...value] = current.split('=')
  if (value.length === 0) return flags.flatMap(({ names, summary }) => names.map((one) => ({ value: one, summary })))
  const flag = flags.find(({ names }) => names.includes(name))
  const found = flag ? await valuesOf(asking, place, flag) : []
  return found.map((one) => ({ ...one, value: `${name}=${one.value}` }))
}

function valuesOf({ values }: Asking, { entry }: Place, { choices, key }: Flag) {
  if (choices.length > 0) return choices.map((value) => ({ value, summary: '' }))
  return values({ command: entry?.name ?? '', member: key })
}

/** The next words of the commands below a noun; where the noun alone is a command, its positionals too. */
async function below(asking: Asking, { noun }: Place): Promise<readonly Candidate[]> {
  const found = new Map<string, string>()
  const depth = noun === '' ? 0 : noun.split(' ').length
  for (const entry of visible(asking.entries)) {
    if (noun !== '' && !entry.name.startsWith(`${noun} `)) continue
    const rest = entry.name.split(' ').slice(depth)
    const [next = ''] = rest
    // A noun has no text of its own here: its verbs say what it is about.
    const verbs = [found.get(next), rest[1]].filter(Boolean).join(', ')
    found.set(next, rest.length === 1 ? entry.summary : verbs)
  }
  const words = [...found].map(([value, summary]) => ({ value, summary }))
  const entry = asking.entries.find((one) => one.isDefault && one.name.startsWith(`${noun} `))
  return entry ? [...words, ...(await positional(asking, { noun, entry, positionals: 0 }))] : words
}

async function positional({ values }: Asking, { entry, positionals }: Place): Promise<readonly Candidate[]> {
  if (!entry) return []
  const members = membersOf((await load(entry)).args)
  const [member, shape] = members[positionals] ?? members.filter(([, { list }]) => list).at(-1) ?? []
  if (member === undefined || shape === undefined) return []
  if (shape.choices.length > 0) return shape.choices.map((value) => ({ value, summary: '' }))
  return values({ command: entry.name, member })
}

async function placeBehind(entries: readonly Entry[], words: readonly string[]): Promise<Place> {
  const place: Place = { noun: '', positionals: 0 }
  for (const word of words) {
    if (place.open) place.open = undefined
    else if (word.startsWith('-')) place.open = await openedBy(word, place.entry)
    else if (place.entry) place.positionals += 1
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
  place.positionals = 1
  // Below a word that is none, nothing is offered.
  if (!place.entry) place.noun = name
}

/** The flag whose value comes next. */
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

function visible(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ hidden }) => !hidden)
}

async function load(entry: Entry): Promise<Command> {
  return (await entry.load()).command
}
