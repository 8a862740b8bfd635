import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import type { Asked, Callable } from '../client/call.ts'
import type { Places } from '../client/paths.ts'
import type { Budget } from '../client/spending/budget.ts'
import type { System } from './env.ts'
import type { ExitName } from './exit.ts'
import type { Globals } from './globals.ts'
import type { Io } from './io.ts'
import type { Column } from './output.ts'
import { object, type output, type ParamSet } from './params.ts'
import type { Session } from './session.ts'

/** What another command returned, and how it shows. */
export type Invoked = { readonly data: unknown; show(io: Io): void }

export type CommandContext<A, O> = {
  readonly args: A
  readonly options: O
  readonly globals: Globals
  readonly io: Io
  readonly system: System
  readonly places: Places
  /** Every command there is, for help and completion. */
  readonly entries: readonly Entry[]
  /** Aborted by ctrl-c and SIGTERM. */
  readonly signal: AbortSignal
  /** What this command may still spend, over all its payments. */
  readonly budget: Budget
  /** Connects to the chosen instance. @throws CliError no_daemon when the local daemon does not run. */
  session(): Promise<Session>
  /** Runs another command as if its words were typed, with this one's global options; prints nothing. */
  invoke(words: readonly string[]): Promise<Invoked>
  /** Sets the exit code of a command that has data to show all the same. */
  exit(name: ExitName): void
}

/**
 * One command. `run` returns data and prints nothing; the frame prints it as JSON, or hands it to `view`.
 * A command that follows something returns an async iterable: `view` then sees one item at a time.
 */
export type Command<A extends ParamSet = ParamSet, O extends ParamSet = ParamSet, D = unknown, R = unknown> = {
  /** The words typed; its file's path under `commands/` is how they begin. */
  readonly name: string
  readonly summary: string
  /** Further sentences of the help text. */
  readonly description?: string
  /** Other words for the whole name. */
  readonly aliases?: readonly string[]
  readonly hidden?: true
  /** Its noun alone means this command. */
  readonly isDefault?: true
  /** Under which title a command without a noun stands in the help. */
  readonly heading?: string
  /** Positionals in order; an array takes all that are left. */
  readonly args: A
  /** camelCase members become `--kebab-case` flags; `meta({ short, value })` adds a letter and a placeholder. */
  readonly options: O
  /** Lines that run as they stand; a test runs them all. */
  readonly examples: readonly [string, string, ...string[]]
  run(context: CommandContext<output<A>, output<O>>): Promise<D> | AsyncIterable<D>
  /** The endpoint whose answer it prints under --json as it is. */
  readonly prints?: Callable
  /** What completion names the members of where it prints more than an answer: the endpoint, or an example of its own. */
  readonly like?: Callable | { readonly [member: string]: unknown }
  /** Rows for TSV and NDJSON; without them, or where this data has none, those formats show the data itself. */
  rows?(data: D): readonly R[] | undefined
  readonly columns?: readonly Column<R>[]
  /** What it shows is this program's own text: line breaks in its data stay. */
  readonly ownText?: true
  /** What it prints has one form alone, for a shell or a terminal: `SOUK_OUTPUT` says nothing about it. */
  readonly ownForm?: true
  /** A stream that ends by itself after ctrl-c: what it still says on its way out is shown. */
  readonly endsItself?: true
  view(data: D, io: Io): void
}

/** What a command need not say: it takes no words, and no flags. */
const wordless = { args: object({}), options: object({}) }
type Wordless<C extends Pick<Command, 'args' | 'options'>> = Omit<C, keyof typeof wordless> &
  Partial<Pick<C, keyof typeof wordless>>

/** Declares a command; everything else is inferred from its schemas and from what `run` returns. */
export function defineCommand<A extends ParamSet, O extends ParamSet, D, R>(
  command: Wordless<Command<A, O, D, R>>,
): Command<A, O, D, R> {
  // Without words of their own, A and O are sets of any words, and so of none.
  return { ...wordless, ...command } as Command<A, O, D, R>
}

type Call<A extends ParamSet, O extends ParamSet, K extends Callable, R> = Omit<
  Wordless<Command<A, O, WireAnswer<Api[K]>, R>>,
  'run' | 'prints'
> & {
  readonly asks: K
  asked(context: CommandContext<output<A>, output<O>>): Asked<K> | Promise<Asked<K>>
}

/** Declares a command that asks one endpoint, and prints what that answers. */
export function defineCall<A extends ParamSet, O extends ParamSet, K extends Callable, R>({
  asks,
  asked,
  ...command
}: Call<A, O, K, R>): Command<A, O, WireAnswer<Api[K]>, R> {
  return defineCommand<A, O, WireAnswer<Api[K]>, R>({
    ...command,
    prints: asks,
    async run(context) {
      const wanted = await asked(context)
      return (await context.session()).call(asks, wanted)
    },
  })
}

/** A command as the list of all knows it, before its file is loaded. */
export type Entry = {
  readonly name: string
  readonly summary: string
  readonly heading: string
  readonly hidden?: true
  readonly isDefault?: true
  /** Another word for this command. */
  readonly aliasOf?: string
  load(): Promise<{ readonly command: Command }>
}

/** What a bare noun stands for in the help text. */
export type Group = { readonly name: string; readonly summary: string; readonly heading: string }

/** Name, summary, and how its file is loaded, which may hold others too; then what only some commands have. */
type EntryRow = readonly [
  name: string,
  summary: string,
  load: () => Promise<Readonly<Record<string, unknown>>>,
  more?: Pick<Entry, 'hidden' | 'isDefault' | 'aliasOf'>,
]

/** Every command, in the order of the help text. */
export function entriesOf(byHeading: Readonly<Record<string, readonly EntryRow[]>>): readonly Entry[] {
  return Object.entries(byHeading).flatMap(([heading, rows]) =>
    rows.map(([name, summary, load, more]) => ({
      ...{ name, summary, heading, ...more },
      load: async () => ({ command: commandIn(await load(), more?.aliasOf ?? name) }),
    })),
  )
}

/** The command of that name among what a file exports. */
function commandIn(file: Readonly<Record<string, unknown>>, name: string): Command {
  const found = commandsIn(file).find((command) => command.name === name)
  if (found === undefined) throw new Error(`no command file has ${name}`)
  return found
}

/** Every command that a file exports. */
export function commandsIn(file: Readonly<Record<string, unknown>>): readonly Command[] {
  return Object.values(file).filter(isCommand)
}

function isCommand(value: unknown): value is Command {
  return typeof value === 'object' && value !== null && 'run' in value && 'examples' in value
}
