import type { WireAnswer } from '../api/index.ts'
import type { Asked, Callable, OpenName } from '../client/asked.ts'
import { type Opens, passedOn, readAnswer, type Words, wordsOf } from '../client/call.ts'
import { endpoints } from '../client/endpoints.ts'
import { errorOf, patient, type RawAnswer, requestOf } from '../client/exchange.ts'
import type { Places } from '../client/settings.ts'
import type { Budget } from '../client/spending/budget.ts'
import type { Spender } from '../client/spending/gate.ts'
import {
  createTransport,
  type KeptConnections,
  shownHeaders,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../client/transport.ts'
import type { NamedWallet } from '../client/wallets.ts'
import { AppError } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { compact } from '../core/record.ts'
import { withoutMarks } from '../text/text.ts'
import { parseAnswer } from './answer.ts'
import type { System } from './env.ts'
import { CliError } from './exit.ts'
import type { Globals } from './globals.ts'
import type { Io } from './io.ts'
import { adminKey, resolveTarget, type Target, unreachable } from './target.ts'

/** A request to any path. */
export type RawCall = Words & {
  /** Error statuses for which the response is returned. All other error statuses throw. */
  readonly accept?: readonly number[]
}

export type Session = {
  readonly target: Target
  readonly transport: Transport
  /** Calls an endpoint. @throws AppError for an error response; CliError without a response; BadAnswer if invalid */
  call<K extends string>(name: K & Callable, asked: Asked<K>): Promise<WireAnswer<K>>
  /** The response of a file, page or stream endpoint. @throws AppError for a refusal */
  open<K extends string>(name: K & OpenName, asked: Asked<K>): Promise<TransportResponse>
  /** Sends any request, parses the response as JSON. @throws AppError for an error response; CliError without one */
  send(call: RawCall): Promise<RawAnswer>
  /** The acting wallet. @throws AppError `not_found` for an unknown `--as` */
  wallet(): Promise<NamedWallet | undefined>
  /** API key of the wallet at this instance, if registered. */
  apiKey(): Promise<string | undefined>
  adminHeaders(): Promise<Readonly<Record<string, string>>>
  /** The caller's API key as a header. @throws CliError `auth` if the wallet is not registered */
  ownHeaders(): Promise<{ readonly 'x-api-key': string }>
}

export type SessionHost = {
  readonly globals: Globals
  readonly io: Io
  readonly places: Places
  readonly system: System
  readonly signal: AbortSignal
  readonly connections?: KeptConnections
  readonly budget: Budget
  /** How to ask for approval (default: on the terminal). */
  readonly approve?: Spender['approve']
  /** Policy for a wallet that has no spending policy of its own. */
  readonly unlessSet?: Spender['unlessSet']
}

/** Describes a request or change that `--dry-run` prevents. Thrown in its place, and shown by `execute`. */
export class DryRun extends Error {
  override readonly name = 'DryRun'
  readonly held: HeldBack
  constructor(held: HeldBack) {
    super('held back by --dry-run')
    this.held = held
  }
}

/** The JSON form. */
export function heldData(held: HeldBack) {
  return 'act' in held ? { dry_run: true as const, ...held } : { dry_run: true as const, request: held }
}

export type HeldBack =
  | { readonly act: string }
  | {
      readonly method: string
      readonly url: string
      readonly headers: string
      readonly body: unknown
      readonly price?: string | null
    }

/** To be called before a local change. @throws DryRun under `--dry-run` */
export function wouldDo(globals: Globals, act: string): void {
  if (globals.dryRun) throw new DryRun({ act })
}

export async function openSession(host: SessionHost): Promise<Session> {
  const target = await resolveTarget(host)
  const headers = { 'user-agent': `souk-cli/${host.system.version}`, accept: 'application/json' }
  const { timeoutMs } = host.globals
  const { fingerprint, inTheClear } = target
  const sender = createTransport({
    baseUrl: target.url,
    headers,
    ...compact({ timeoutMs, fingerprint, inTheClear, connections: host.connections }),
  })
  const shown = await debuggedAs(host, sender, headers)
  // Who keeps connections asks again and again, and shows what is so now.
  const plain = host.connections ? shown : patient(shown, host.system.sleep)
  let sure: Promise<void> | undefined
  const transport: Transport = async (request) => {
    if (host.globals.dryRun && request.method !== 'GET') throw new DryRun(heldBack(target, request))
    if (target.protected && changes(request)) {
      sure ??= confirmName(host, target)
      await sure
    }
    try {
      return await plain({ signal: host.signal, ...request })
    } catch (error) {
      throw error instanceof TransportError ? unreachable(error, target) : error
    }
  }
  // Loads the wallets on demand, since they need cryptography.
  const wallet = async () => (await import('../client/wallets.ts')).currentWallet(host.places, host.globals.as)
  const adminHeaders = async () => ({ authorization: `Bearer ${await adminKey(host.places, target)}` })
  const kept = keptKey(async () => {
    const address = (await wallet())?.address
    const { apiKeyOf } = await import('../client/secrets.ts')
    return address === undefined ? undefined : apiKeyOf(host.places, target.instance, address)
  })
  const apiKey = kept.read
  const ownHeaders = async () => {
    const key = await apiKey()
    if (key !== undefined) return { 'x-api-key': key }
    throw unregistered(await wallet(), target)
  }
  const send = (call: RawCall) =>
    exchange(transport, call).catch(async (error) => {
      throw placed(error, target, { ...call, isUnknown: await kept.isLost(transport, error, call) })
    })
  const asked = async ({ opens, ...words }: Words & { readonly opens: Opens }, headers = words.headers) => {
    if (opens === 'admin') return { ...words, headers: { ...(await adminHeaders()), ...headers } }
    return opens === 'key' && !saysWho(headers) ? { ...words, headers: { ...(await ownHeaders()), ...headers } } : words
  }
  return {
    target,
    transport,
    wallet,
    apiKey,
    adminHeaders,
    ownHeaders,
    send,
    call: async (name, request) => readAnswer(name, (await send(await asked(passedOn(name, request)))).body),
    open: async (name, request) => opened(transport, await asked(passedOn(name, request))),
  }
}

/** `--debug` shows requests and responses; `--debug=http` also shows their bodies. */
async function debuggedAs(
  { io, system }: SessionHost,
  transport: Transport,
  headers: Readonly<Record<string, string>>,
) {
  const { debug } = io.settings
  if (debug === 'nothing') return transport
  const { debugTransport } = await import('../client/debug/debug-transport.ts')
  return debugTransport(transport, {
    headers,
    bodies: debug === 'http',
    line: (line) => io.debug(line),
    now: () => system.now(),
  })
}

export function isUnauthorized(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unauthorized'
}

/** Whether the instance does not know the key. If so, it was reset, or another instance took over its address. */
async function isStranger(transport: Transport, key: string): Promise<boolean> {
  const { opens: _opens, ...words } = wordsOf('getBalance', { headers: { 'x-api-key': key } })
  return exchange(transport, words).then(() => false, isUnauthorized)
}

/** Reads the saved key; returns none once the instance has said that it does not know the key. */
function keptKey(find: () => Promise<string | undefined>) {
  let isUnknown = false
  const read = async () => (isUnknown ? undefined : find())
  return {
    read,
    async isLost(transport: Transport, error: unknown, { headers }: RawCall): Promise<boolean> {
      const key = headers?.['x-api-key']
      if (!isUnauthorized(error) || key === undefined) return false
      if (key === (await read())) isUnknown = await isStranger(transport, key)
      return isUnknown
    },
  }
}

type Sent = { readonly isUnknown: boolean }

/** Adds the refused request and the name of the instance to a refusal. */
function placed(error: unknown, { name }: Target, { method, path, isUnknown }: RawCall & Sent): unknown {
  if (!(error instanceof AppError)) return error
  const { code, message, details, retryAfter, extra } = error
  const said = { ...extra, remote: name, request: `${method} ${path}`, ...(isUnknown ? { unknown_key: true } : {}) }
  const more = { ...compact({ details, retryAfter }), extra: said }
  return new AppError(code, message, { ...more, cause: error })
}

function unregistered(wallet: NamedWallet | undefined, target: Target): CliError {
  return wallet === undefined
    ? new CliError('auth', 'There is no active wallet.', { next: ['souk wallet new main'] })
    : new CliError('auth', `Wallet ${wallet.name} is not registered at ${target.name}.`, {
        next: ['souk account register'],
      })
}

/** Whether a request has its own credential. */
export function saysWho(headers: RawCall['headers'] = {}): boolean {
  return ['authorization', 'x-api-key'].some((name) => headers[name] !== undefined)
}

/** Whether a request changes something. Long queries use POST but change nothing. */
function changes({ method, path }: TransportRequest): boolean {
  return method !== 'GET' && path !== endpoints.getReputations[1]
}

/** Before a change, requires the instance's name: typed, or in `--confirm`. @throws CliError `usage` or `cancelled` */
export async function confirmName({ globals, io }: SessionHost, { name }: Target, says = 'changes'): Promise<void> {
  const { confirm } = globals
  if (confirm === name) return
  if (confirm !== undefined) {
    const sentence = `--confirm is ${confirm}, but this command changes ${name}.`
    throw new CliError('usage', sentence, { next: [`… --confirm ${name}`] })
  }
  const typed = await io.ask(`This ${says} ${name}. Type the remote name to go on:`, { flag: `--confirm ${name}` })
  if (typed.trim() !== name) throw new CliError('cancelled', 'Nothing was changed: the name does not match.')
}

function isRedirect({ status }: Pick<RawAnswer, 'status'>): boolean {
  return status >= 300 && status < 400
}

/** The error for a redirect. Redirects are not followed, since credentials would go to another server. */
function redirected({ headers }: Pick<RawAnswer, 'headers'>): CliError {
  return new CliError('failure', 'The instance redirects to another address; souk does not follow.', {
    facts: headers.location === undefined ? [] : [`redirect target: ${headers.location}`],
    next: ['souk remote list'],
  })
}

async function exchange(transport: Transport, { accept = [], ...call }: RawCall): Promise<RawAnswer> {
  const { request, form } = await requestOf(call)
  const response = await transport(request)
  const answer: RawAnswer = { status: response.status, headers: response.headers, body: jsonOf(await response.text()) }
  if (isRedirect(answer)) throw redirected(answer)
  if (answer.status >= 400 && !accept.includes(answer.status)) throw errorOf(answer)
  if (form) checkArrived(answer.body, form.sha256())
  return answer
}

/** @throws AppError for a refusal */
async function opened(transport: Transport, call: Words): Promise<TransportResponse> {
  const { request } = await requestOf({ ...call, headers: { accept: '*/*', ...call.headers } })
  const response = await transport(request)
  if (response.status >= 200 && response.status < 300) return response
  throw await refusalOf(response)
}

/** Checks the hash that an upload returns. @throws CliError failure when it differs */
function checkArrived(body: unknown, sha256: string): void {
  const facts = isObject(body) && isObject(body.file) ? body.file : body
  if (isObject(facts) && facts.sha256 === sha256) return
  throw new CliError('failure', 'The stored file differs from the uploaded file.', {
    facts: [`SHA-256 of the local file: ${sha256}`],
  })
}

function jsonOf(text: string): unknown {
  const found = parseAnswer(text)
  // Non-JSON responses stay text.
  return found === undefined ? withoutMarks(text) : found.value
}

/** The error in a response that should have been a file or stream. */
export async function refusalOf({ status, headers, text }: TransportResponse): Promise<Error> {
  const answer: RawAnswer = { status, headers, body: jsonOf(await text()) }
  return isRedirect(answer) ? redirected(answer) : errorOf(answer)
}

function heldBack(target: Target, request: TransportRequest): HeldBack {
  return {
    method: request.method,
    url: target.url + request.path,
    headers: shownHeaders(request.headers ?? {}),
    body: heldBody(request.body),
  }
}

function heldBody(body: TransportRequest['body']): unknown {
  if (typeof body === 'string') return jsonOf(body)
  if (body === undefined) return null
  return body instanceof Uint8Array ? body.byteLength : 'a form with a file'
}
