import { isInstanceName, placesOf, readSettings } from '../../client/settings.ts'
import { type Budget, createBudget } from '../../client/spending/budget.ts'
import { spendingLine, spentAmounts } from '../budget.ts'
import type { Entry, Group } from '../command.ts'
import type { System } from '../env.ts'
import { usage } from '../exit.ts'
import {
  type GlobalOption,
  globalOptions,
  outputOf,
  type RawGlobals,
  splitOptionalValues,
  takesValue,
  withEnvironment,
  withKept,
  withOutput,
} from '../globals.ts'
import { createIo, type Format, type Io, plainSettings } from '../io.ts'
import { HELP_COLUMNS_MAX, type HelpAsked, type Parsed, type Program, parseWords } from './mount.ts'
import { synonyms } from './root-help.ts'

export type Commands = { readonly entries: readonly Entry[]; readonly groups: readonly Group[] }

/** Runs the command line. @returns the exit code after all output */
export async function main(machine: System, commands: Commands): Promise<number> {
  const system = actingAs(machine)
  const words = splitOptionalValues(helpWords(withoutSynonym(system.argv, commands), commands))
  const budget = createBudget()
  let io = createIo(system, {
    ...plainSettings,
    format: guessFormat(words, system),
    debug: words.includes('--debug') ? 'everything' : 'nothing',
  })
  try {
    const parsed = await parseBare(system, commands, words)
    if ('text' in parsed) {
      io.line(parsed.text)
      await io.flush()
      return 0
    }
    const raw = keptBehind(withEnvironment(formed(parsed, system), system.env), system)
    io = createIo(system, await settingsOf(raw))
    const { execute } = await import('./execute.ts')
    const code = await execute({ system, io, entries: commands.entries, parsed, raw, budget })
    await io.flush()
    tellSpending(io, budget)
    await io.flush()
    return code
  } catch (error) {
    const { explain, tell } = await import('../failure.ts')
    const failure = explain(error, words)
    tell(io, failure, { error, budget })
    // A failure of `flush` is not reported: it is the failure just reported, or a consequence of it.
    return io.flush().then(
      () => failure.exit,
      () => failure.exit,
    )
  }
}

/** `souk as NAME …` means `souk … --as NAME`. If no words follow the name, `as` is a command of its own. */
function actingAs(machine: System): System {
  const at = globalsIn(machine.argv)
  const [first, name, ...rest] = machine.argv.slice(at)
  if (first !== 'as' || name === undefined || name.startsWith('-')) return machine
  const isAlone = globalsIn(rest) === rest.length
  const argv = isAlone ? [...machine.argv, '--as', name] : [...machine.argv.slice(0, at), '--as', name, ...rest]
  // A proxy, so that slow members are read only when they are used.
  return new Proxy(machine, { get: (of, member) => (member === 'argv' ? argv : Reflect.get(of, member)) })
}

/** Number of words before the command: global options and their values. */
function globalsIn(words: readonly string[]): number {
  const options: readonly GlobalOption[] = globalOptions
  let at = 0
  while (words[at]?.startsWith('-') && words[at] !== '--') {
    const word = words[at] ?? ''
    const option = options.find(({ flags }) => flags.split(/[ ,]+/).includes(word))
    at += option !== undefined && takesValue(option) ? 2 : 1
  }
  return Math.min(at, words.length)
}

function tellSpending(io: Io, budget: Budget): void {
  const line = spendingLine(budget)
  if (line !== undefined)
    io.say(io.settings.format === 'human' ? line : JSON.stringify({ spent: spentAmounts(budget) }))
}

/** Adds the output format that the environment sets. @throws CliError `usage` if it is invalid */
function formed({ command, globals }: Parsed, { env }: System): RawGlobals {
  const found = command.ownForm ? globals : withOutput(globals, env)
  if ('refusal' in found) throw usage(found.refusal)
  return found
}

function keptBehind(raw: RawGlobals, { env }: System): RawGlobals {
  const configDir = typeof raw.config === 'string' ? raw.config : undefined
  return withKept(raw, readSettings(placesOf(env, { configDir })).options)
}

async function settingsOf(raw: RawGlobals): ReturnType<typeof readIoSettings> {
  if (typeof raw.instance === 'string' && !isInstanceName(raw.instance)) {
    throw usage(`--instance must be lower-case letters, digits, "-" or "_"; you gave "${raw.instance}".`)
  }
  return readIoSettings(raw)
}

async function readIoSettings(raw: RawGlobals) {
  const { ioSettings } = await import('./values.ts')
  return ioSettings(raw)
}

/** Parses `souk` without words: the cockpit on a terminal, the status in a pipe. */
async function parseBare(system: System, commands: Commands, words: readonly string[]): Promise<Parsed | HelpAsked> {
  const width = Math.min(system.stdout.columns ?? HELP_COLUMNS_MAX, HELP_COLUMNS_MAX)
  const program: Program = { ...commands, version: system.version, width }
  const parsed = await parseWords(program, words)
  if (!('bare' in parsed) || !parsed.bare) return parsed
  const onTerminal = system.stdout.isTTY === true && system.stdinIsTty
  const first = onTerminal && commands.entries.some(({ name }) => name === 'tui') ? 'tui' : 'status'
  return parseWords(program, [...words, first])
}

/** Replaces synonyms: `souk stop` is `souk down`. */
function withoutSynonym(argv: readonly string[], { entries }: Commands): readonly string[] {
  const at = argv[globalsIn(argv)] === 'help' ? globalsIn(argv) + 1 : globalsIn(argv)
  const word = argv[at]
  const found = Object.entries(synonyms).find(([one]) => one === word)?.[1]
  if (found === undefined || entries.some(({ name }) => name === word)) return argv
  const named = argv[0] === 'help' ? found.filter((part) => !part.startsWith('-')) : found
  return [...argv.slice(0, at), ...named, ...argv.slice(at + 1)]
}

/** `help` is `--help`, `help services list` is `services list --help`; other words are topics. */
function helpWords(argv: readonly string[], { entries }: Commands): readonly string[] {
  const [first, ...rest] = argv
  if (first !== 'help' || rest.some((word) => word.startsWith('-'))) return argv
  const name = rest.join(' ')
  const known = entries.some((entry) => name === '' || entry.name === name || entry.name.startsWith(`${name} `))
  return known ? [...rest, '--help'] : argv
}

/** Guesses the output format for errors that are found before the options are parsed. */
function guessFormat(words: readonly string[], { env }: System): Format {
  const said = outputOf(env)
  if (said === 'json' || said === 'ndjson') return 'json'
  return words.some((word) => ['--json', '--ndjson', '-q', '--jq', '--fields'].includes(word.split('=')[0] ?? word))
    ? 'json'
    : 'human'
}
