import { placesOf } from '../../client/settings.ts'
import type { Budget } from '../../client/spending/budget.ts'
import { AppError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import { harmless, oneLine } from '../../text/text.ts'
import { eachText } from '../answer.ts'
import { type Command, type CommandContext, type Entry, type Invoked, intervalOf } from '../command.ts'
import type { System } from '../env.ts'
import { CliError, type ExitName, exits } from '../exit.ts'
import type { Globals, RawGlobals } from '../globals.ts'
import { isOfNobody } from '../hints.ts'
import type { Io } from '../io.ts'
import { listMember, pickFields, printTsv } from '../output.ts'
import { DryRun, heldData, openSession, type Session, type SessionHost } from '../session.ts'
import { type Parsed, parseWords } from './mount.ts'
import { readGlobals, readWords } from './values.ts'

type Words = Readonly<Record<string, unknown>>

export type Run = {
  readonly system: System
  readonly io: Io
  readonly entries: readonly Entry[]
  readonly parsed: Parsed
  /** Flags and environment. */
  readonly raw: RawGlobals
  /** Spending of this command, and of the commands that it invokes. */
  readonly budget: Budget
}

/** Runs a command and prints its result. @returns the exit code @throws the command's failure */
export async function execute(run: Run): Promise<number> {
  const { system, io, parsed } = run
  const stop = new AbortController()
  const off = interruptible(system, stop)
  const state: { exit: ExitName } = { exit: 'ok' }
  let context: Context | undefined
  try {
    context = await contextOf(run, { stop, state })
    const everyMs = intervalOf(parsed.command, context.options)
    if (everyMs === undefined) await produce(parsed, context)
    else await lookAgain(run, { stop, state }, everyMs)
  } catch (error) {
    if (!(error instanceof DryRun)) {
      throw stop.signal.aborted && state.exit === 'ok' ? interrupted(stop, error) : await told(run, context, error)
    }
    showHeldBack(io, error)
  } finally {
    off()
  }
  return exits[state.exit]
}

type Context = CommandContext<Words, Words>
type Running = { readonly stop: AbortController; readonly state: { exit: ExitName } }

async function contextOf(run: Run, running: Running): Promise<Context> {
  const context = await plainContextOf(run, running)
  const { args, options } = context
  if (!hasWords(args) && !hasWords(options)) return context
  const { resolveWords } = await import('../naming/resolve.ts')
  const named = { args, options: withoutFiles(run.parsed.command, options) }
  const namer = { ...context, asAdmin: isAdministrative(run), buys: BUYING.test(run.parsed.command.name) }
  const resolved = await resolveWords(namer, named)
  return { ...context, args: resolved.args, options: { ...options, ...resolved.options } }
}

/** Drops the options for files, since no object is looked up by a file name. */
function withoutFiles({ options: { shape } }: Command, options: Words): Words {
  return Object.fromEntries(Object.entries(options).filter(([key]) => shape[key]?.facts.meta.value !== 'file'))
}

function hasWords(words: Words): boolean {
  return Object.values(words).some((value) => typeof value === 'string' || Array.isArray(value))
}

/** Whether the command is an administrative one, which sees all objects. */
function isAdministrative({ parsed }: Run): boolean {
  return parsed.command.name.startsWith('admin ')
}

/** Commands that buy from others. */
const BUYING = /(^| )(buy|inquire|subscribe)$/

/** Adds "did you mean" to an error about an object that was not found. */
async function told(run: Run, context: Context | undefined, error: unknown): Promise<unknown> {
  if (!(error instanceof AppError) || context === undefined) return error
  const { withMeant } = await import('../naming/resolve.ts')
  return withMeant(error, { ...context, asAdmin: isAdministrative(run) }, context)
}

async function plainContextOf(run: Run, running: Running): Promise<Context> {
  const { system, io, parsed, raw } = run
  const globals = await readGlobals(raw)
  const { instance, config, data } = raw
  const choices = { instance: asText(instance), configDir: asText(config), dataDir: asText(data) }
  const places = placesOf(system.env, choices)
  const { signal } = running.stop
  let session: Promise<Session> | undefined
  return {
    ...readWords(parsed.command, parsed),
    globals,
    io,
    system,
    places,
    entries: run.entries,
    signal,
    budget: run.budget,
    session: () => {
      session ??= openKnown(run, { globals, io, places, system, signal, budget: run.budget })
      return session
    },
    invoke: (words) => invoke(run, running, words),
    exit: (name) => {
      running.state.exit = name
    },
  }
}

/** Opens the session. If the wallet of `--as` does not exist, offers to create it, except in hidden commands. */
async function openKnown({ parsed }: Run, host: SessionHost): Promise<Session> {
  const session = await openSession(host)
  if (host.globals.as === undefined || parsed.command.hidden) return session
  await (await import('../wallet/persona.ts')).becomeKnown(host, session, { wallet: host.globals.as })
  return session
}

async function invoke(run: Run, running: Running, words: readonly string[]): Promise<Invoked> {
  const width = Number.MAX_SAFE_INTEGER
  const parsed = await parseWords({ entries: run.entries, groups: [], version: run.system.version, width }, words)
  if ('text' in parsed) throw new CliError('usage', `"${words.join(' ')}" is not a command.`)
  const raw = { ...run.raw, ...parsed.globals }
  const context = await contextOf({ ...run, parsed, raw }, running)
  const data = await parsed.command.run(context)
  return { data, show: (io) => show(parsed.command, data, io) }
}

function asText(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The first ctrl-c or SIGTERM stops the command in an orderly way, the second one immediately. */
function interruptible(system: System, stop: AbortController): () => void {
  let received = 0
  const offs = (['SIGINT', 'SIGTERM'] as const).map((signal) =>
    system.onSignal(signal, () => {
      received += 1
      if (received > (system.signalsPerPress ?? 1))
        process.exit(exits[signal === 'SIGINT' ? 'interrupted' : 'terminated'])
      stop.abort(signal)
    }),
  )
  return () => {
    for (const off of offs) off()
  }
}

function interrupted(stop: AbortController, cause: unknown): CliError {
  if (cause instanceof CliError && cause.exit !== 'interrupted') return cause
  return stop.signal.reason === 'SIGTERM'
    ? new CliError('terminated', 'Terminated by SIGTERM.', { cause })
    : new CliError('interrupted', 'Interrupted by ctrl-c.', { cause })
}

async function produce({ command, globals }: Parsed, context: Context): Promise<void> {
  const { as } = globals
  const refuseUnknown = typeof as === 'string' && !command.hidden ? await unknownPerson(context.places, as) : undefined
  if (isOfNobody(command.name)) refuseUnknown?.()
  const result = command.run(context)
  if (!isStream(result)) {
    const data = await result
    // Commands that use the marketplace have checked `--as` by now. For all others it is checked here.
    refuseUnknown?.()
    await printed(command, context, data)
    return
  }
  for await (const item of result) {
    if (context.signal.aborted && !command.endsItself) break
    await printItem(command, context, item)
  }
  if (context.signal.aborted) context.exit(context.signal.reason === 'SIGTERM' ? 'terminated' : 'interrupted')
}

/** Undefined if the wallet exists; otherwise a function that throws the error for an unknown wallet. */
async function unknownPerson(places: Context['places'], name: string): Promise<(() => void) | undefined> {
  const { getWallet, walletNames } = await import('../../client/wallets.ts')
  return walletNames(places).includes(name) ? undefined : () => void getWallet(places, name)
}

async function printed(command: Command, context: Context, data: unknown): Promise<void> {
  const { system, io, globals } = context
  if (!io.isTty) return print(command, { io, globals }, data)
  const { isPaged, paged } = await import('./pager.ts')
  if (!isPaged(system, io)) return print(command, { io, globals }, data)
  await paged(system, io, (at) => print(command, { io: at, globals }, data))
}

/** Repeats the command at an interval, and reconnects after a restart of the daemon. */
async function lookAgain(run: Run, running: Running, everyMs: number): Promise<void> {
  const { system, io, parsed } = run
  const { watch } = await import('./watch.ts')
  const { signal } = running.stop
  const look = async (at: Io) => {
    const context = await contextOf({ ...run, io: at }, running)
    const data = await parsed.command.run(context)
    if (at.settings.format === 'json') await printLine(at, context.globals, data)
    else await print(parsed.command, context, data)
  }
  await watch({ system, settings: io.settings, everyMs, signal, look })
  running.state.exit = signal.reason === 'SIGTERM' ? 'terminated' : 'interrupted'
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

type Printing = { io: Io; globals: Globals }

export async function print(command: Command, { io, globals }: Printing, data: unknown): Promise<void> {
  const { format } = io.settings
  if (format === 'json') return printJson(io, globals, data)
  if (format === 'ndjson') {
    for (const row of command.rows?.(data) ?? listMember(data)?.elements ?? [data]) await printLine(io, globals, row)
    return
  }
  const rows = format === 'tsv' || !io.isTty ? command.rows?.(data) : undefined
  if (rows && command.columns) return printTsv(io, command.columns, { rows, header: globals.header })
  if (format === 'tsv') return printPairs(io, data)
  show(command, data, io)
}

/** Reduces each untrusted text to one line without colors, then calls the view of the command. */
export function show(command: Command, data: unknown, io: Io): void {
  command.view(command.ownText ? data : eachText(data, harmless), io)
}

export async function printItem(command: Command, { io, globals }: Printing, item: unknown): Promise<void> {
  if (io.settings.format === 'json' || io.settings.format === 'ndjson') return printLine(io, globals, item)
  show(command, item, io)
}

async function printJson(io: Io, globals: Globals, data: unknown): Promise<void> {
  const value = globals.fields === undefined ? data : pickFields(data, globals.fields)
  if (globals.jq === undefined) {
    io.json(value)
    return
  }
  const { runJq } = await import('../jq.ts')
  for (const result of await runJq(globals.jq, value)) {
    // Text is shown as one line on a terminal, and unchanged in a pipe.
    if (typeof result === 'string') io.line(io.isTty ? harmless(result) : result)
    else io.json(result)
  }
}

export async function printLine(io: Io, globals: Globals, data: unknown): Promise<void> {
  const value = globals.fields === undefined ? data : pickFields(data, globals.fields)
  if (globals.jq === undefined) {
    io.jsonLine(value)
    return
  }
  const { runJq } = await import('../jq.ts')
  for (const result of await runJq(globals.jq, value)) io.jsonLine(result)
}

/** A single object as `name<tab>value` lines. */
function printPairs(io: Io, data: unknown): void {
  if (!isObject(data)) {
    io.jsonLine(data)
    return
  }
  for (const [name, value] of Object.entries(data)) {
    io.line(`${oneLine(name)}\t${typeof value === 'object' ? JSON.stringify(value) : oneLine(String(value))}`)
  }
}

export function showHeldBack(io: Io, { held }: DryRun): void {
  if (io.settings.format !== 'human') {
    io.json(heldData(held))
    return
  }
  if ('act' in held) {
    io.line(`would ${held.act}`)
    return
  }
  io.line(`${held.method} ${held.url}`)
  if (held.headers) io.line(held.headers)
  if (held.body !== null) io.line(JSON.stringify(held.body, null, 2))
  if (held.price) io.line(`price ${held.price}`)
  io.say('nothing was sent')
}
