import { Argument, Command as Commander, CommanderError, Help, Option } from 'commander'
import { hanging, kebab } from '../../text/text.ts'
import type { Command, Entry, Group } from '../command.ts'
import { usage } from '../exit.ts'
import { type GlobalOption, globalOptions } from '../globals.ts'
import { flagOf, membersOf, type OptionShape } from '../option-shape.ts'
import { rootHelp } from './root-help.ts'

export type Parsed = ReturnType<typeof collect>

/** Text of the help or the version, for the caller to print. */
export type HelpAsked = {
  readonly text: string
  /** No command was given. */
  readonly bare: boolean
}

export type Program = {
  readonly entries: readonly Entry[]
  readonly groups: readonly Group[]
  readonly version: string
  /** Width at which help text wraps, in columns. */
  readonly width: number
  /** The program has only the commands of one noun, and no root options. */
  readonly narrow?: true
}

/** Parses words; loads only the named command. @throws CliError usage for an unknown, missing or extra word */
export async function parseWords(program: Program, words: readonly string[]): Promise<Parsed | HelpAsked> {
  const leaf = leafOf(program, words)
  const parsed = leaf && (await parseWith({ ...program, entries: [leaf], narrow: true }, words))
  if (parsed && !('error' in parsed)) return parsed
  // Help and errors need the sibling commands.
  const tree = narrowed(program, words)
  const whole = await parseWith(tree, words)
  if (!('error' in whole)) return whole
  // With a help flag, commander shows help without checking the words. Parse again without such flags, to find an
  // unknown word.
  const unhelped =
    leaf || !HELP_CODES.includes(whole.error.code)
      ? whole
      : await parseWith(
          tree,
          words.filter((word) => word !== '--help' && word !== '-h'),
        )
  return asked('error' in unhelped && UNKNOWN_CODES.includes(unhelped.error.code) ? unhelped : whole, program)
}

type Ended = { readonly error: CommanderError; readonly parsing: Parsing; readonly noOperands: boolean }

async function parseWith(program: Program, words: readonly string[]): Promise<Parsed | Ended> {
  const parsing: Parsing = { words, captured: [] }
  const root = buildRoot(program, parsing)
  try {
    await root.parseAsync([...words], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { error, parsing, noOperands: root.args.length === 0 }
  }
  if (parsing.parsed === undefined) throw usage('No command was given.', { next: ['souk help'] })
  return parsing.parsed
}

/** Finds the command at the start of `words`, because the parser then needs only that one. */
function leafOf({ entries }: Program, words: readonly string[]): Entry | undefined {
  const line = `${words.join(' ')} `
  return entries.filter(({ name }) => line.startsWith(`${name} `)).sort((a, b) => b.name.length - a.name.length)[0]
}

/** State while parsing. */
type Parsing = {
  readonly words: readonly string[]
  /** What commander printed: help or version text. */
  readonly captured: string[]
  leaf?: { name: string; flags: readonly string[] }
  parsed?: Parsed
}

/** Keeps only the commands of the noun in the first word: with fewer commands, the parser starts faster. */
function narrowed(program: Program, [first = '']: readonly string[]): Program {
  const entries = program.entries.filter(({ name }) => name === first || name.startsWith(`${first} `))
  return entries.length === 0 ? program : { ...program, entries, narrow: true }
}

/** Help topics. The pattern matches the commands whose help mentions the topic. */
const TOPICS_OF = {
  remotes: /^remote /,
  'provider-protocol': /^provide$/,
  'exit-codes': /\b(watch|test|check|verify)$/,
}
/** Spaces around a list term. */
const ITEM_SPACES = 4
/** Choices with more characters than this are put after the summary. */
const CHOICES_CHARS_MAX = 30

export const HELP_COLUMNS_MAX = 100

/** Commander's codes for an unknown word. After a noun with a default command, such a word is an excess argument. */
const UNKNOWN_CODES = ['commander.unknownCommand', 'commander.excessArguments']
const HELP_CODES = ['commander.help', 'commander.helpDisplayed', 'commander.version']

async function asked({ error, parsing, noOperands }: Ended, program: Program): Promise<HelpAsked> {
  if (HELP_CODES.includes(error.code)) {
    // For Commander, missing words are an error. If only a noun was typed, show help instead.
    const text = parsing.captured.join('').replace(/\n+$/, '')
    const isRoot = text.startsWith('Usage: souk [')
    return { text: isRoot ? await rootPage(program) : text, bare: noOperands && error.code === 'commander.help' }
  }
  const [first = '', hint = ''] = error.message.replace(/^error: /, '').split('\n')
  const suggested = /\(Did you mean (?:one of )?(.+)\?\)/.exec(hint)?.[1]
  const { hintFor } = await import('./hint.ts')
  const sentence = first.charAt(0).toUpperCase() + first.slice(1)
  const { entries } = program
  const told = await hintFor({ sentence, suggested, words: parsing.words, entries, leaf: parsing.leaf })
  throw usage(told.sentence, { next: told.next })
}

async function rootPage({ width }: Program): Promise<string> {
  const { topics } = await import('./help-topics.ts')
  return rootHelp(width, Object.keys(topics))
}

function buildRoot(program: Program, parsing: Parsing): Commander {
  const root = new Commander('souk')
    .version(program.version, '-V, --version')
    .enablePositionalOptions()
    .helpCommand(false)
  configure(root, program, parsing.captured)
  if (!program.narrow) addGlobals(root, new Set())
  const nouns = new Map<string, Commander>()
  const load = async (_parent: Commander, leaf: Commander) => {
    const entry = leaves.get(leaf)
    if (entry) decorate(leaf, { ...entry, command: (await entry.load()).command }, parsing)
  }
  root.hook('preSubcommand', load)
  const leaves = new Map<Commander, Entry>()
  for (const entry of program.entries) {
    const words = entry.name.split(' ')
    const verb = words.pop() ?? entry.name
    const parent = words.length === 0 ? root : nounOf(words.join(' '), { root, nouns, program, load })
    const leaf = parent.command(verb, { hidden: entry.hidden === true, isDefault: entry.isDefault === true })
    leaf
      .summary(entry.summary)
      .description(entry.summary)
      .helpGroup(words.length === 0 ? `${entry.heading}:` : 'Commands:')
    leaves.set(leaf, entry)
  }
  return root
}

type Building = {
  root: Commander
  nouns: Map<string, Commander>
  program: Program
  load: (parent: Commander, leaf: Commander) => Promise<void>
}

/** Nouns may be nested: `admin platform`. */
function nounOf(name: string, building: Building): Commander {
  const { root, nouns, program, load } = building
  const existing = nouns.get(name)
  if (existing) return existing
  const words = name.split(' ')
  const last = words.pop() ?? name
  const parent = words.length === 0 ? root : nounOf(words.join(' '), building)
  const group = program.groups.find((one) => one.name === name)
  const noun = parent.command(last, { hidden: group === undefined })
  noun.helpCommand(false).hook('preSubcommand', load)
  if (group) noun.summary(group.summary).description(pageText(group))
  if (program.entries.some((entry) => entry.name === `${name} list`)) {
    noun.addHelpText('after', `\nShow the list:\n  $ souk ${name} list`)
  }
  if (group) noun.helpGroup(parent === root ? `${group.heading}:` : 'Commands:')
  nouns.set(name, noun)
  return noun
}

function configure(root: Commander, program: Program, captured: string[]): void {
  root.exitOverride()
  root.configureOutput({
    writeOut: (text) => captured.push(text),
    writeErr: (text) => captured.push(text),
    outputError: () => undefined,
    getOutHelpWidth: () => program.width,
    getErrHelpWidth: () => program.width,
  })
  root.configureHelp({
    subcommandTerm: (command) => command.name(),
    optionDescription: (option) => option.description,
    formatHelp: optionsLast,
    formatItem: (...[term, termWidth, description, helper]) => item({ term, termWidth, description }, helper),
  })
}

type Item = { readonly term: string; readonly termWidth: number; readonly description: string }

/** Puts a description on the line below its term if the room beside the term is too small. */
function item({ term, termWidth, description }: Item, helper: Help): string {
  const width = helper.helpWidth ?? 80
  if (width - termWidth - ITEM_SPACES >= helper.minWidthToWrap || description === '') {
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper)
  }
  return hanging(`  ${term}`, description, width)
}

function optionsLast(command: Commander, help: Help): string {
  const parts = Help.prototype.formatHelp.call(help, command, help).split('\n\n')
  if (command.commands.length === 0) return parts.join('\n\n')
  const options = parts.filter((part) => part.startsWith('Options:'))
  const rest = parts.filter((part) => !options.includes(part)).map((part) => part.trimEnd())
  return `${[...rest, ...options.map((part) => part.trimEnd())].join('\n\n')}\n`
}

function pageText({ summary, description = '' }: Pick<Command, 'summary' | 'description'>): string {
  return [summary, description].filter(Boolean).join('\n\n')
}

type Leaf = Pick<Entry, 'summary' | 'pays'> & { readonly command: Command }

function decorate(leaf: Commander, { command, summary, pays }: Leaf, parsing: Parsing): void {
  leaf.description(pageText({ ...command, summary }))
  const args = membersOf(command.args)
  for (const [key, shape] of args) leaf.addArgument(argumentOf(key, shape))
  const options = membersOf(command.options)
  for (const [key, shape] of options) leaf.addOption(optionOf(key, shape))
  const taken = new Set(options.map(([key]) => `--${kebab(key)}`))
  for (const [, { short }] of options) if (short) taken.add(`-${short}`)
  addGlobals(leaf, taken, { typed: parsing.words, pays })
  leaf.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ ${line}`).join('\n')}`)
  leaf.addHelpText(
    'after',
    `\nGlobal options: --as WALLET, --remote NAME, --json\n\nSee also:\n${seeAlso(command, pays)}`,
  )
  parsing.leaf = { name: command.name, flags: options.map(([key]) => `--${kebab(key)}`) }
  leaf.action(() => {
    parsing.parsed = collect(leaf, command)
  })
}

function collect(leaf: Commander, command: Command) {
  const own = new Set(Object.keys(command.options.shape))
  const given = leaf.opts()
  const options = Object.fromEntries(Object.entries(given).filter(([key]) => own.has(key)))
  const globalKeys = new Set<string>(globalOptions.map(({ key }) => key))
  const before = Object.entries(ancestorOptions(leaf)).filter(([key]) => globalKeys.has(key))
  const after = Object.entries(given).filter(([key]) => globalKeys.has(key) && !own.has(key))
  return { command, positionals: leaf.processedArgs, options, globals: Object.fromEntries([...before, ...after]) }
}

function ancestorOptions(leaf: Commander): Record<string, unknown> {
  return leaf.parent ? { ...ancestorOptions(leaf.parent), ...leaf.parent.opts() } : {}
}

function argumentOf(key: string, shape: OptionShape): Argument {
  const name = `${kebab(key)}${shape.list ? '...' : ''}`
  return new Argument(shape.required ? `<${name}>` : `[${name}]`, shape.summary)
}

function optionOf(key: string, shape: OptionShape): Option {
  const isLong = shape.kind === 'choice' && shape.value.length > CHOICES_CHARS_MAX
  const value = isLong ? kebab(key) : shape.value
  const flags = `${shape.short ? `-${shape.short}, ` : ''}${flagOf(key, shape)}${shape.kind === 'flag' ? '' : ` <${value}>`}`
  const isTold = ['string', 'number'].includes(typeof shape.fallback) && shape.fallback !== ''
  const fallback = isTold ? ` (default: ${String(shape.fallback)})` : ''
  const choices =
    isLong || (shape.kind === 'choice' && !shape.value.includes('|')) ? `: ${shape.choices.join(', ')}` : ''
  const option = new Option(flags, shape.summary + choices + (shape.list ? ' (repeatable)' : '') + fallback)
  // Collects the values of a repeated option. Commander's own variadic options would take positionals as values.
  if (shape.list) option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
  return option
}

function seeAlso({ name, columns }: Command, pays?: true): string {
  const noun = name.split(' ').slice(0, -1).join(' ')
  const topics = Object.entries(TOPICS_OF).flatMap(([topic, pattern]) => (pattern.test(name) ? [topic] : []))
  const pages = [...(pays ? ['payments'] : []), ...topics, ...(columns ? ['formatting'] : []), 'options'].map(
    (topic) => `souk help ${topic}`,
  )
  return [...(noun === '' ? [] : [`souk ${noun} --help`]), ...pages].map((line) => `  $ ${line}`).join('\n')
}

type Shown = { readonly typed: readonly string[]; readonly pays: true | undefined }

/** Adds all global options to the root, and to a command those that were typed, and the limit of what it pays. */
function addGlobals(command: Commander, taken: ReadonlySet<string>, shown?: Shown): void {
  const isRoot = command.parent === null
  const options: readonly GlobalOption[] = globalOptions
  for (const option of options) {
    const flags = freeFlags(option.flags, taken)
    const isLimit = shown?.pays === true && option.key === 'maxPrice'
    if (flags === undefined || (shown && !isLimit && !isTyped(flags, shown.typed))) continue
    const added = new Option(flags, option.summary)
    // Commander would read `--no-input` as the negation of `--input`; it is a flag of its own.
    added.negate = false
    if (option.choices) added.choices([...option.choices])
    added.hidden = option.hidden === true || !(isRoot || isLimit)
    command.addOption(added)
  }
}

function isTyped(flags: string, words: readonly string[]): boolean {
  const names = flags.split(/[ ,]+/)
  return words.some((word) => names.includes(word.split('=')[0] ?? word) || (/^-\w/.test(word) && /^-\w/.test(flags)))
}

/** Removes the forms in `taken` from `-x, --long <value>`. Undefined if `--long` itself is taken. */
function freeFlags(flags: string, taken: ReadonlySet<string>): string | undefined {
  const parts = flags.split(', ')
  const long = parts.find((part) => part.startsWith('--')) ?? flags
  if (taken.has(long.split(' ')[0] ?? long)) return undefined
  return parts.filter((part) => !taken.has(part)).join(', ')
}
