import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Asked, Callable } from '../client/asked.ts'
import { readRegistration } from '../client/discover.ts'
import { endpoints } from '../client/endpoints.ts'
import type { Link, Outcome, Problem, Whereabouts } from '../client/link.ts'
import { DEFAULT_INSTANCE, LOCAL, readSettings } from '../client/settings.ts'
import { keepConnections } from '../client/transport.ts'
import { getWallet } from '../client/wallets.ts'
import { AppError, type ErrorCode } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { ownId } from './account.ts'
import type { CommandContext } from './command.ts'
import { CliError } from './exit.ts'
import { explain } from './failure.ts'
import { openSession, type Session } from './session.ts'

/** Stream timeout; instances send a heartbeat every ten seconds. */
export const STREAM_TIMEOUT_MS = 30_000
/** Number of past events that the cockpit loads when it opens. */
const EVENTS_BACK = 50

type Context = CommandContext<unknown, unknown>

/** The cockpit's connection. Each call looks up the instance again, so calls work after restarts and port changes. */
export function createLink(context: Context): Link {
  const { globals, places } = context
  const { baseUrl } = globals
  const name = baseUrl ?? globals.remote ?? readSettings(places).remote ?? LOCAL
  const option = baseUrl === undefined ? `-r ${name}` : `--base-url ${baseUrl}`
  // `confirm` answers the prompt before a change. It would draw over the screen, and the cockpit asks by itself.
  const connections = keepConnections()
  let opening: Promise<Session> | undefined
  /** One for all that a screen asks at once. Keys that were typed before are read first. */
  const session = async (signal?: AbortSignal) => {
    await nextTurn(undefined, { signal })
    opening ??= openSession({ ...context, connections, globals: { ...globals, confirm: name } }).finally(() => {
      opening = undefined
    })
    return opening
  }
  const shown = name === LOCAL && places.instance !== DEFAULT_INSTANCE ? `${LOCAL}:${places.instance}` : name
  return {
    place: { name: shown, guarded: name !== LOCAL, option: name === LOCAL ? '' : option },
    whereabouts: (signal) => outcome(async () => whereaboutsOf(context, await session(signal))),
    self: () => outcome(async () => ownId(await session())),
    heldBy: (wallet) =>
      outcome(async () => {
        const { name: known } = getWallet(places, wallet)
        return { wallet: known, id: await ownId(await openSession({ ...context, globals: { ...globals, as: known } })) }
      }),
    call: <K extends string>(name: K & Callable, asked: Asked<K>) =>
      outcome(async () => {
        const open = await session(asked.signal)
        const own: Readonly<Record<string, string>> =
          endpoints[name][2] === 'key_or_paid' ? await open.ownHeaders() : {}
        const { headers, signal } = asked
        return open.call<K>(name, { ...asked, headers: { ...own, ...headers }, signal: anyOf(context, signal) })
      }),
    events: (cursor, signal) => outcome(async () => follow(await session(signal), cursor, anyOf(context, signal))),
  }
}

async function outcome<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    return { ok: false, problem: problemOf(error) }
  }
}

export function problemOf(error: unknown): Problem {
  const { sentence, facts, next } = explain(error)
  return { kind: kindOf(error), sentence, facts, next }
}

const kinds: Readonly<Partial<Record<ErrorCode, Problem['kind']>>> = {
  unauthorized: 'denied',
  forbidden: 'denied',
  not_found: 'absent',
  not_built_yet: 'absent',
}

function kindOf(error: unknown): Problem['kind'] {
  if (error instanceof AppError) return kinds[error.code] ?? 'failed'
  if (!(error instanceof CliError)) return 'failed'
  if (error.exit === 'no_daemon')
    return isObject(error.details) && error.details.state === 'starting' ? 'starting' : 'gone'
  return error.exit === 'auth' ? 'denied' : 'failed'
}

function anyOf(context: Context, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? context.signal : AbortSignal.any([context.signal, signal])
}

async function whereaboutsOf({ places }: Context, { target, adminHeaders }: Session): Promise<Whereabouts> {
  const admin = await outcome(adminHeaders)
  const started = target.name === LOCAL ? readRegistration(places)?.started_at : undefined
  const startedAt = started === undefined ? undefined : Date.parse(started)
  return { url: target.url, admin: admin.ok, startedAt }
}

async function follow(
  session: Session,
  cursor: number | undefined,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  const answer = await session.open('streamEvents', {
    query: cursor === undefined ? { last: String(EVENTS_BACK) } : { cursor: String(cursor) },
    headers: { accept: 'text/event-stream' },
    timeoutMs: STREAM_TIMEOUT_MS,
    signal,
  })
  return decoded(answer.chunks())
}

async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
}
