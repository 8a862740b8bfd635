import type { WireAnswer } from '../api/index.ts'
import type { Asked, Callable } from '../client/asked.ts'
import { endpoints } from '../client/endpoints.ts'
import type { Places } from '../client/settings.ts'
import type { Budget } from '../client/spending/budget.ts'
import type { System } from './env.ts'
import type { ExitName } from './exit.ts'
import type { Globals } from './globals.ts'
import type { Io } from './io.ts'
import type { Column } from './output.ts'
import { Duration, flag, object, type output, type ParamSet } from './params.ts'

import type { Session } from './session.ts'

/** Result of another command, and how to show it. */
export type Invoked = { readonly data: unknown; show(io: Io): void }

export type CommandContext<A, O> = {
  readonly args: A
  readonly options: O
  readonly globals: Globals
  readonly io: Io
  readonly system: System
  readonly places: Places
  /** All commands, for help and completion. */
  readonly entries: readonly Entry[]
  /** Aborted by ctrl-c and SIGTERM. */
  readonly signal: AbortSignal
  readonly budget: Budget
  /** Connects to the chosen instance. @throws CliError no_daemon when the local daemon does not run. */
  session(): Promise<Session>
  /** Runs another command with the same global options; prints nothing. */
  invoke(words: readonly string[]): Promise<Invoked>
  /** Sets the exit code of a command that reports a problem, but still returns its data. */
  exit(name: ExitName): void
}

/**
 * A command. `run` returns data and prints nothing; `execute` then prints JSON or calls `view`. A command that follows
 * a stream returns an async iterable, and `view` gets one item at a time.
 */
export type Command<A extends ParamSet = ParamSet, O extends ParamSet = ParamSet, D = unknown, R = unknown> = {
  /** Words that the user types after `souk`. They begin with the path of the command's file under `commands/`. */
  readonly name: string
  readonly summary: string
  /** Text of the help page below the summary. */
  readonly description?: string
  /** Other full names of the command. Each can be typed in place of the whole `name`. */
  readonly aliases?: readonly string[]
  readonly hidden?: true
  /** The noun without a verb runs this command. */
  readonly isDefault?: true
  /** Section of the root help; only for a command whose name has no noun. */
  readonly heading?: string
  /** Positionals in order; an array takes all remaining words. */
  readonly args: A
  /** camelCase members become `--kebab-case` flags; `meta({ short, value })` adds a short flag and a placeholder. */
  readonly options: O
  /** Runnable examples; a test runs them. */
  readonly examples: readonly [string, string, ...string[]]
  run(context: CommandContext<output<A>, output<O>>): Promise<D> | AsyncIterable<D>
  /** Endpoint that the command pays for; `commands/index.ts` adds its price to the summary (default: `prints`). */
  readonly pays?: Callable
  /** Endpoint whose response `--json` prints unchanged. */
  readonly prints?: Callable
  /** Endpoint or example value with the shape of the output, to complete `--jq` and `--fields` (default: `prints`). */
  readonly like?: Callable | { readonly [member: string]: unknown }
  /** Rows for TSV and NDJSON (default: the data itself). */
  rows?(data: D): readonly R[] | undefined
  readonly columns?: readonly Column<R>[]
  /** `view` gets texts with their line breaks. Without this, each text becomes one line without control characters. */
  readonly ownText?: true
  /** The output format is fixed: `SOUK_OUTPUT` is ignored. */
  readonly ownForm?: true
  /** The stream ends itself after ctrl-c. The items that it yields until then are still shown. */
  readonly endsItself?: true
  view(data: D, io: Io): void
}

/** Parameters of a command that declares none. */
const wordless = { args: object({}), options: object({}) }
type Wordless<C extends Pick<Command, 'args' | 'options'>> = Omit<C, keyof typeof wordless> &
  Partial<Pick<C, keyof typeof wordless>>

/** An example, and the same with --json. */
export const andJson = (line: string): [string, string] => [line, `${line} --json`]

/** Declares a command; the types of its parameters and data are inferred. */
export function defineCommand<A extends ParamSet, O extends ParamSet, D, R>(
  command: Wordless<Command<A, O, D, R>>,
): Command<A, O, D, R> {
  // If `args` or `options` is omitted, its type is that of `wordless`, so the cast is safe.
  return { ...wordless, ...command } as Command<A, O, D, R>
}

type Call<A extends ParamSet, O extends ParamSet, K extends string, R> = Omit<
  Wordless<Command<A, O, WireAnswer<K>, R>>,
  'run' | 'prints'
> & {
  readonly asks: K & Callable
  /** Default: the argument is the path's parameter, if it has one. */
  asked?(context: CommandContext<output<A>, output<O>>): Asked<K> | Promise<Asked<K>>
  /** Question to confirm before the call (default: none). */
  confirms?(context: CommandContext<output<A>, output<O>>, session: Session): string | undefined
}

export function defineCall<A extends ParamSet, O extends ParamSet, K extends string, R>({
  asks,
  asked,
  confirms,
  ...command
}: Call<A, O, K, R>): Command<A, O, WireAnswer<K>, R> {
  return defineCommand<A, O, WireAnswer<K>, R>({
    ...command,
    prints: asks,
    async run(context) {
      const wanted = (await asked?.(context)) ?? (byArgument(asks, context.args) as Asked<K>) // an example of each command runs it
      const session = await context.session()
      const question = confirms?.(context, session)
      if (question !== undefined) await context.io.confirm(question)
      return session.call<K>(asks, wanted)
    },
  })
}

function byArgument(name: Callable, args: object) {
  const parameter = /:(\w+)/.exec(endpoints[name][1])?.[1]
  return parameter === undefined ? {} : { params: { [parameter]: Object.values(args)[0] } }
}

/** A command in the index, before its file is loaded. */
export type Entry = {
  readonly name: string
  readonly summary: string
  readonly heading: string
  readonly hidden?: true
  readonly isDefault?: true
  /** It pays, at most `--max-price`. */
  readonly pays?: true
  readonly aliasOf?: string
  load(): Promise<{ readonly command: Command }>
}

/** Help of a noun that is typed without a verb. */
export type Group = Pick<Entry, 'name' | 'summary' | 'heading'> & Pick<Command, 'description'>

/** Name, summary and loader of a command, then its optional members. */
type EntryRow = readonly [
  name: string,
  summary: string,
  load: () => Promise<Readonly<Record<string, unknown>>>,
  more?: Pick<Entry, 'hidden' | 'isDefault' | 'pays' | 'aliasOf'>,
]

/** All commands in help order. */
export function entriesOf(byHeading: Readonly<Record<string, readonly EntryRow[]>>): readonly Entry[] {
  return Object.entries(byHeading).flatMap(([heading, rows]) =>
    rows.map(([name, summary, load, more]) => ({
      ...{ name, summary, heading, ...more },
      load: async () => ({ command: commandIn(await load(), more?.aliasOf ?? name) }),
    })),
  )
}

function commandIn(file: Readonly<Record<string, unknown>>, name: string): Command {
  const found = commandsIn(file).find((command) => command.name === name)
  if (found === undefined) throw new Error(`no command file has ${name}`)
  return found
}

export function commandsIn(file: Readonly<Record<string, unknown>>): readonly Command[] {
  return Object.values(file).filter(isCommand)
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && 'run' in value && 'examples' in value
}

const INTERVAL_MS = 2_000
const INTERVAL_MS_MIN = 200

export const watchOptions = {
  watch: flag({ description: 'repeat until ctrl-c' }),
  interval: Duration.optional().meta({ description: 'interval of --watch (default: 2s)', value: 'duration' }),
}

/** Interval in milliseconds; undefined without `--watch`. */
export function intervalOf(command: Command, options: Readonly<Record<string, unknown>>): number | undefined {
  // A command may have a `--watch` flag of its own, with another meaning.
  if (command.options.shape.watch !== watchOptions.watch || options.watch !== true) return undefined
  return typeof options.interval === 'number' ? Math.max(options.interval, INTERVAL_MS_MIN) : INTERVAL_MS
}
