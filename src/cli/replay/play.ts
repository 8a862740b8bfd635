import { endpoints } from '../../client/endpoints.ts'
import { kindOf } from '../../client/recording/exchange.ts'
import { type Difference, differences, idPattern, idsOf, type Shape, shapeOf } from '../../client/recording/shape.ts'
import { TransportError, type TransportResponse } from '../../client/transport.ts'
import { AppError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import { clip, oneLine } from '../../text/text.ts'
import { parseAnswer } from '../answer.ts'
import type { CommandContext } from '../command.ts'
import { CliError } from '../exit.ts'
import type { RawCall, Session } from '../session.ts'
import { payFor } from '../wallet/paying.ts'
import type { ReplayRequest } from './recorded.ts'

/** How often a request that came too fast is sent again, and the longest that is waited for it. */
const TRIES_MAX = 4
const RETRY_SECONDS_MAX = 60
const TOO_MANY = 429
const SENTENCE_CHARS_MAX = 200
const S_MS = 1_000
/** Ids of the recording that are known by another name at the instance. */
const IDS_MAX = 20_000

export const outcomes = ['same', 'different', 'skipped', 'no_answer', 'not_sent'] as const

/** What came of a request of the file. */
export type ReplayedRequest = {
  readonly line: number
  readonly method: ReplayRequest['method']
  readonly path: string
  readonly outcome: (typeof outcomes)[number]
  readonly was: number | null
  readonly is: number | null
  readonly was_ms: number | null
  readonly ms: number | null
  readonly differences: readonly Difference[]
  /** Why it was not sent, or what was said instead of an answer. */
  readonly why: string | null
}

export type Choices = {
  /** Requests that pay are paid for again. */
  readonly paid: boolean
  readonly admin: boolean
  /** Only what changes nothing. */
  readonly reads: boolean
  readonly statusOnly: boolean
  readonly ignored: readonly string[]
  /** Least time between the beginnings of two requests, milliseconds. */
  readonly everyMs: number
}

/** Whether a request may change something; a question that is too long for an address does not. */
export function changes({ method, path }: Pick<ReplayRequest, 'method' | 'path'>): boolean {
  return !['GET', 'HEAD', 'OPTIONS'].includes(method) && path !== endpoints.getReputations[1]
}

/** Why a request of the file is not sent; undefined for what is. */
export function whyNot(one: ReplayRequest, { paid, admin, reads }: Choices): string | undefined {
  if (one.left_out !== undefined) return `not recorded: ${one.left_out}`
  if (one.status === null) return 'it had no answer'
  if (!admin && isAdministrative(one)) return 'administrative; --admin sends it'
  if (!paid && one.auth === 'payment') return 'was paid for; --paid pays again'
  return reads && changes(one) ? 'may change something; --reads leaves it out' : undefined
}

function isAdministrative({ path, auth }: ReplayRequest): boolean {
  return auth === 'admin' || /^\/(dashboard\/api\/admin|metrics)(\/|\?|$)/.test(path)
}

export function notSent(one: ReplayRequest, outcome: ReplayedRequest['outcome'], why: string | null): ReplayedRequest {
  const { line, method, path, status: was, ms: was_ms } = one
  return { line, method, path, outcome, was, is: null, was_ms, ms: null, differences: [], why }
}

type Context = CommandContext<unknown, unknown>
type Playing = {
  readonly context: Context
  readonly session: Session
  readonly choices: Choices
  /** One key for the whole run: what is paid for is paid for once, however often the run is. */
  readonly runKey: string
}

/**
 * Sends what may be sent, one after the other and in order, each as soon as the one before is answered. What the
 * instance calls by another id than the recording goes by that from then on. Ends where no answer comes.
 */
export async function play(playing: Playing, requests: readonly ReplayRequest[]): Promise<readonly ReplayedRequest[]> {
  const { context, choices } = playing
  const { io, system } = context
  const progress = io.progress('replaying')
  const ids = new Map<string, string>()
  const played: ReplayedRequest[] = []
  const startedAt = system.now()
  let sent = 0
  try {
    for (const [at, one] of requests.entries()) {
      const why = whyNot(one, choices)
      if (why !== undefined) {
        played.push(notSent(one, 'skipped', why))
        continue
      }
      progress.update(`replaying ${at + 1} of ${requests.length}   ${countOf(played, 'different')} different`)
      const isOver = countOf(played, 'no_answer') > 0 || !(await isTime(context, startedAt + sent * choices.everyMs))
      played.push(isOver ? notSent(one, 'not_sent', ENDED) : await playOne(playing, one, ids))
      sent += 1
    }
  } finally {
    progress.stop()
  }
  return played
}

const ENDED = 'the run had ended'

export function countOf(played: readonly ReplayedRequest[], outcome: ReplayedRequest['outcome']): number {
  return played.filter((one) => one.outcome === outcome).length
}

/** Waits for a time. @returns false where somebody ended the run meanwhile */
async function isTime({ system, signal }: Context, at: number): Promise<boolean> {
  const dueIn = at - system.now()
  if (dueIn > 0 && !signal.aborted) await system.sleep(dueIn, signal)
  return !signal.aborted
}

/** What an answer came to, as far as it is compared. */
type Answered = { readonly status: number; readonly shape: Shape | undefined; readonly body: unknown }

async function playOne(playing: Playing, one: ReplayRequest, ids: Map<string, string>): Promise<ReplayedRequest> {
  const { context, choices } = playing
  const call = await callOf(playing.session, one, ids)
  const startedAt = context.system.now()
  try {
    const answer = one.auth === 'payment' ? await paidAnswer(playing, one, call) : await answerTo(playing, one, call)
    const ms = context.system.now() - startedAt
    learn(ids, one, answer.body)
    const found = differencesOf(one, answer, choices)
    const outcome = found.length === 0 && answer.status === one.status ? 'same' : 'different'
    const why = answer.status === one.status ? null : sentenceIn(answer.body)
    return { ...notSent(one, outcome, why), is: answer.status, ms, differences: found }
  } catch (error) {
    if (context.signal.aborted) return notSent(one, 'not_sent', ENDED)
    // Above a limit, or nothing to pay with: what comes after it can be asked all the same.
    if (error instanceof CliError && error.exit === 'payment') return notSent(one, 'not_sent', error.message)
    if (!isWithoutAnswer(error)) throw error
    return { ...notSent(one, 'no_answer', error.message), ms: context.system.now() - startedAt }
  }
}

function sentenceIn(body: unknown): string | null {
  return isObject(body) && typeof body.error === 'string' ? clip(oneLine(body.error), SENTENCE_CHARS_MAX) : null
}

function isWithoutAnswer(error: unknown): error is Error {
  return error instanceof TransportError || (error instanceof CliError && error.exit === 'no_daemon')
}

async function callOf(session: Session, one: ReplayRequest, ids: ReadonlyMap<string, string>): Promise<RawCall> {
  const { method, path, body, auth } = one
  const renamed = (text: string) => text.replace(new RegExp(`\\b${idPattern}\\b`, 'g'), (id) => ids.get(id) ?? id)
  return {
    method,
    path: renamed(path),
    headers: await credentialsOf(session, one, auth),
    // Ids hold no character that JSON writes otherwise.
    ...(body === undefined ? {} : { body: JSON.parse(renamed(JSON.stringify(body))) }),
  }
}

/** Of whoever replays: none of the recording's is known. */
async function credentialsOf(session: Session, one: ReplayRequest, auth: ReplayRequest['auth']) {
  if (isAdministrative(one)) return session.adminHeaders()
  const key = auth === 'none' ? undefined : await session.apiKey()
  return key === undefined ? {} : { 'x-api-key': key }
}

async function answerTo({ context, session }: Playing, one: ReplayRequest, call: RawCall): Promise<Answered> {
  const { method, path, headers = {}, body } = call
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const typed = body === undefined ? headers : { 'content-type': 'application/json', ...headers }
  for (let tries = 1; ; tries += 1) {
    const answer = await session.transport({ method, path, headers: typed, signal: context.signal, ...json })
    if (answer.status !== TOO_MANY || one.status === TOO_MANY || tries === TRIES_MAX) return readOf(answer, method)
    const seconds = Math.min(Number(answer.headers['retry-after']) || 1, RETRY_SECONDS_MAX)
    await context.system.sleep(seconds * S_MS, context.signal)
  }
}

async function readOf(answer: TransportResponse, method: RawCall['method']): Promise<Answered> {
  const { status } = answer
  const kind = method === 'HEAD' ? 'nothing' : kindOf(status, answer.headers['content-type'])
  if (kind !== 'json') {
    // Of a stream, which has no end, and of a file only the kind is compared.
    for await (const _ of answer.chunks()) break
    return { status, shape: { '.': kind }, body: undefined }
  }
  const body = parseAnswer(await answer.text())?.value
  return { status, shape: body === undefined ? { '.': 'text' } : shapeOf(body), body }
}

/** Pays what was paid for in the recording, as any purchase: by nothing that is in the file, and within all limits. */
async function paidAnswer({ context, session, runKey }: Playing, one: ReplayRequest, call: RawCall): Promise<Answered> {
  try {
    const { answer } = await payFor(context, session, { ...call, idempotencyKey: `${runKey}-${one.line}` })
    return { status: answer.status, shape: shapeOf(answer.body), body: answer.body }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { http_status } = error.extra
    // What a refusal holds is taken apart on its way here: its status alone is compared.
    const status = typeof http_status === 'number' ? http_status : error.status
    return { status, shape: undefined, body: { error: error.message } }
  }
}

function differencesOf(one: ReplayRequest, answer: Answered, { statusOnly, ignored }: Choices): readonly Difference[] {
  if (statusOnly || answer.status !== one.status || answer.shape === undefined || one.shape === undefined) return []
  return differences(one.shape, answer.shape, ignored)
}

function learn(ids: Map<string, string>, { ids: was = {} }: ReplayRequest, body: unknown): void {
  const now = idsOf(body)
  for (const [path, id] of Object.entries(was)) {
    const other = now[path]
    if (other !== undefined && kindOfId(other) === kindOfId(id) && ids.size < IDS_MAX) ids.set(id, other)
  }
}

function kindOfId(id: string): string {
  return id.slice(0, id.lastIndexOf('_'))
}
