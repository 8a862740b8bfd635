import { kebab, nearest, shellWord } from '../../text/text.ts'
import type { Entry } from '../command.ts'
import { globalOptions } from '../globals.ts'
import { membersOf } from '../option-shape.ts'

const SUGGESTIONS_MAX = 3
/** A word that needs no quotes. */
const PLAIN_WORD = /^[\w./:@-]+$/

export type Refused = {
  /** Commander's error sentence, without full stop and suggestion. */
  readonly sentence: string
  /** Commander's suggestion. */
  readonly suggested: string | undefined
  readonly words: readonly string[]
  readonly entries: readonly Entry[]
  /** The command being parsed. */
  readonly leaf: { readonly name: string; readonly flags: readonly string[] } | undefined
}

export type Hint = { readonly sentence: string; readonly next: readonly string[] }

/** Explains a refused command line: the fault, a "did you mean", and the next command. */
export async function hintFor(refused: Refused): Promise<Hint> {
  const { sentence, suggested, leaf } = refused
  const noun = nounIn(refused)
  const stray = strayWord(refused, noun)
  if (stray !== undefined) {
    const verbs = below(refused, noun).map(({ name }) => name.split(' ')[noun.split(' ').length] ?? '')
    const about = `There is no command "${noun} ${stray}"`
    return { sentence: asked(about, nearest(stray, verbs)), next: [`souk ${noun} --help`] }
  }
  const known = /^unknown option '(--?[^']+)'/i.exec(sentence)?.[1]
  const unknown = /^unknown command '([^']+)'/i.exec(sentence)?.[1]
  const elsewhere =
    known === undefined
      ? helpOf(noun === '' ? unknown : undefined, refused.entries)
      : await withOption(refused, { noun, flag: known })
  // A file that is given as an argument.
  const file = /^too many arguments/i.test(sentence) && leaf?.flags.includes('--file') && refused.words.at(-1)
  if (leaf && file && /[./]/.test(file)) elsewhere.push(`souk ${leaf.name} --file ${shellWord(file)}`)
  const meant = suggested ?? (elsewhere.length > 0 ? undefined : nearestFlag(known, leaf?.flags ?? []))
  const about = leaf?.name ?? noun
  return { sentence: asked(sentence, meant), next: [...elsewhere, about === '' ? 'souk help' : `souk ${about} --help`] }
}

/** Suggests `--help` for each command that has `word` after its noun; empty if there are too many commands. */
export function helpOf(word: string | undefined, entries: readonly Entry[]): string[] {
  const found = entries.filter(({ name, aliasOf, hidden }) => {
    return (
      !aliasOf &&
      !hidden &&
      name
        .split(' ')
        .slice(1)
        .includes(word ?? '')
    )
  })
  return found.length > SUGGESTIONS_MAX ? [] : found.map(({ name }) => `souk ${name} --help`)
}

function asked(sentence: string, meant: string | undefined): string {
  const end = sentence.endsWith('.') ? '' : '.'
  return `${sentence}${meant === undefined ? '' : ` (did you mean ${meant}?)`}${end}`
}

/** The typed noun, such as `admin platform`; empty if none. */
function nounIn({ words, entries }: Refused): string {
  const nouns = new Set(entries.flatMap(({ name }) => name.split(' ').map((_, at, all) => all.slice(0, at).join(' '))))
  const [first = '', ...rest] = words.slice(
    Math.max(
      0,
      words.findIndex((word) => word !== '' && nouns.has(word)),
    ),
  )
  if (!nouns.has(first)) return ''
  let noun = first
  for (const word of rest) {
    if (!nouns.has(`${noun} ${word}`)) break
    noun = `${noun} ${word}`
  }
  return noun
}

function below({ entries }: Refused, noun: string): readonly Entry[] {
  return entries.filter(({ name, aliasOf, hidden }) => name.startsWith(`${noun} `) && !aliasOf && !hidden)
}

/** The unknown word after a noun that has a default command; undefined for any other fault. */
function strayWord({ sentence, words, entries, leaf }: Refused, noun: string): string | undefined {
  const entry = entries.find(({ name }) => name === leaf?.name)
  if (!entry?.isDefault || noun === '' || !/^too many arguments/i.test(sentence)) return undefined
  const next = words[words.indexOf(noun.split(' ').at(-1) ?? noun) + 1]
  return next === undefined || next.startsWith('-') || entry.name === `${noun} ${next}` ? undefined : next
}

async function withOption(refused: Refused, { noun, flag }: { noun: string; flag: string }): Promise<string[]> {
  if (noun === '') return []
  const [name = flag] = flag.split('=')
  const value = refused.words[refused.words.indexOf(flag) + 1]
  const found: string[] = []
  for (const entry of below(refused, noun)) {
    if (entry.name.lastIndexOf(' ') !== noun.length) continue
    const { command } = await entry.load()
    const option = membersOf(command.options).find(
      ([key, { short }]) => name === `--${kebab(key)}` || name === `-${short ?? ''}`,
    )
    if (option === undefined) continue
    const takes = option[1].kind !== 'flag' && !flag.includes('=') && value !== undefined && PLAIN_WORD.test(value)
    found.push(`souk ${entry.name} ${flag}${takes ? ` ${value}` : ''}`)
  }
  return found.length > SUGGESTIONS_MAX ? [] : found
}

/** The flag that is most similar to the typed one, if any. Needed since Commander suggests no global flags. */
function nearestFlag(given: string | undefined, flags: readonly string[]): string | undefined {
  if (!given?.startsWith('--')) return undefined
  const known = globalOptions.flatMap((option) => ('hidden' in option ? [] : (/--[\w-]+/.exec(option.flags) ?? [])))
  return nearest(given, [...known, ...flags])
}
