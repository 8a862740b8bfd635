import type { WireAnswer } from '../api/endpoint/define.ts'
import type { Api } from '../api/index.ts'
import {
  type Asked,
  type Callable,
  type OpenName,
  type Opens,
  queryText,
  readAnswer,
  type Words,
  wordsOf,
} from '../client/call.ts'
import { endpoints } from '../client/endpoints.ts'
import { errorOf, type RawAnswer, textFields } from '../client/exchange.ts'
import type { Places } from '../client/paths.ts'
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
import type { Form, SentFile } from '../client/upload.ts'
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

/** Any request, to any path of the instance. */
export type RawCall = Words & {
  /** Statuses of 400 and above that are an answer here, no failure. */
  readonly accept?: readonly number[]
}

export type Session = {
  readonly target: Target
  readonly transport: Transport
  /** Calls an endpoint of the contract. @throws AppError for an error answer, CliError when none came, BadAnswer. */
  call<K extends Callable>(name: K, asked: Asked<K>): Promise<WireAnswer<Api[K]>>
  /** The answer of an endpoint that is a file, a page or a stream. @throws AppError for a refusal. */
  open<K extends OpenName>(name: K, asked: Asked<K>): Promise<TransportResponse>
  /** Sends any request and reads its JSON, whatever it holds. @throws AppError for an error answer, CliError. */
  send(call: RawCall): Promise<RawAnswer>
  /** The wallet to act as. @throws AppError not_found when `--as` names none that exists. */
  wallet(): Promise<NamedWallet | undefined>
  /** API key of that wallet at this instance, if it registered here. */
  apiKey(): Promise<string | undefined>
  adminHeaders(): Promise<Readonly<Record<string, string>>>
  /** Headers that say who calls. @throws CliError auth when the wallet is not registered at this instance. */
  ownHeaders(): Promise<{ readonly 'x-api-key': string }>
}

export type SessionHost = {
  readonly globals: Globals
  readonly io: Io
  readonly places: Places
  readonly system: System
  readonly signal: AbortSignal
  /** Where connections are kept between reads. */
  readonly connections?: KeptConnections
  /** What this command may still spend, over all its payments. */
  readonly budget: Budget
  /** How a person agrees to a payment; asked on the terminal unless given. */
  readonly approve?: Spender['approve']
  /** The spend policy of a wallet that has none of its own. */
  readonly unlessSet?: Spender['unlessSet']
}

/** What `--dry-run` held back: a request, or an act on this machine; the frame shows it. */
export class DryRun extends Error {
  override readonly name = 'DryRun'
  readonly held: HeldBack
  constructor(held: HeldBack) {
    super('held back by --dry-run')
    this.held = held
  }
}

/** The same as it is printed for programs. */
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

/** Stops here under `--dry-run`, before a change to this machine. */
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
  const plain = await debuggedAs(host, sender, headers)
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
  // Wallets bring hashing and key handling with them: loaded only where a command acts as somebody.
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
    call: async (name, request) => readAnswer(name, (await send(await asked(wordsOf(name, request)))).body),
    open: async (name, request) => opened(transport, await asked(wordsOf(name, request))),
  }
}

/** `--debug` shows what is sent and what is answered; `--debug=http` with the bodies. */
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

/** Whether an instance knows nobody by a key: its data were reset, or another one answers at its address by now. */
async function isStranger(transport: Transport, key: string): Promise<boolean> {
  const { opens: _opens, ...words } = wordsOf('getBalance', { headers: { 'x-api-key': key } })
  return exchange(transport, words).then(() => false, isUnauthorized)
}

/** The key that is kept for an instance, until that turns out not to know it: then there is none. */
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

/** A refusal with what it refused and where, for the sentence that tells it. */
function placed(error: unknown, { name }: Target, { method, path, isUnknown }: RawCall & Sent): unknown {
  if (!(error instanceof AppError)) return error
  const { code, message, details, retryAfter, extra } = error
  const said = { ...extra, remote: name, request: `${method} ${path}`, ...(isUnknown ? { unknown_key: true } : {}) }
  const more = { ...compact({ details, retryAfter }), extra: said }
  return new AppError(code, message, { ...more, cause: error })
}

function unregistered(wallet: NamedWallet | undefined, target: Target): CliError {
  return wallet === undefined
    ? new CliError('auth', 'There is no wallet to act as.', { next: ['souk wallet new main'] })
    : new CliError('auth', `Wallet ${wallet.name} is not registered at ${target.name}.`, {
        next: ['souk account register'],
      })
}

/** Whether a call brings a credential of its own. */
export function saysWho(headers: RawCall['headers'] = {}): boolean {
  return ['authorization', 'x-api-key'].some((name) => headers[name] !== undefined)
}

/** A question that is too long for an address changes nothing. */
function changes({ method, path }: TransportRequest): boolean {
  return method !== 'GET' && path !== endpoints.getReputations[1]
}

/** A change of an instance whose name has to be given for it. @throws CliError usage, cancelled */
export async function confirmName({ globals, io }: SessionHost, { name }: Target, says = 'changes'): Promise<void> {
  const { confirm } = globals
  if (confirm === name) return
  if (confirm !== undefined) {
    const sentence = `--confirm names ${confirm}, but this would change ${name}.`
    throw new CliError('usage', sentence, { next: [`… --confirm ${name}`] })
  }
  const typed = await io.ask(`This ${says} ${name}. Type the remote name to go on:`, { flag: `--confirm ${name}` })
  if (typed.trim() !== name) throw new CliError('cancelled', 'Nothing was changed: that is another name.')
}

function isRedirect({ status }: Pick<RawAnswer, 'status'>): boolean {
  return status >= 300 && status < 400
}

/** Whoever redirects would have credentials carried to where they like: that is for a person to decide. */
function redirected({ headers }: Pick<RawAnswer, 'headers'>): CliError {
  return new CliError('failure', 'The instance redirects to another address; souk does not follow.', {
    facts: headers.location === undefined ? [] : [`it names ${headers.location}`],
    next: ['souk remote list'],
  })
}

async function exchange(transport: Transport, { accept = [], ...call }: RawCall): Promise<RawAnswer> {
  const { file, body } = call
  const form = file && (await formWith(body, file))
  const response = await dispatch(transport, call, form)
  const answer: RawAnswer = { status: response.status, headers: response.headers, body: jsonOf(await response.text()) }
  if (isRedirect(answer)) throw redirected(answer)
  if (answer.status >= 400 && !accept.includes(answer.status)) throw errorOf(answer)
  if (form) checkArrived(answer.body, form.sha256())
  return answer
}

/** @throws AppError for a refusal */
async function opened(transport: Transport, call: Words): Promise<TransportResponse> {
  const response = await dispatch(transport, { ...call, headers: { accept: '*/*', ...call.headers } })
  if (response.status >= 200 && response.status < 300) return response
  throw await refusalOf(response)
}

function dispatch(transport: Transport, { query, file: _sent, body, path, ...call }: Words, form?: Form) {
  return transport({
    ...call,
    path: path + queryText(query),
    headers: { ...(form?.headers ?? jsonHeaders(body)), ...call.headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(form ? { body: form.body } : {}),
  })
}

function jsonHeaders(body: unknown): Readonly<Record<string, string>> {
  return body === undefined ? {} : { 'content-type': 'application/json' }
}

async function formWith(body: unknown, file: SentFile): Promise<Form> {
  const { formOf } = await import('../client/upload.ts')
  return formOf(textFields(body), file)
}

/** An upload names the hash of what it kept. @throws CliError failure when that is not what was sent. */
function checkArrived(body: unknown, sha256: string): void {
  const facts = isObject(body) && isObject(body.file) ? body.file : body
  if (isObject(facts) && facts.sha256 === sha256) return
  throw new CliError('failure', 'What the instance kept is not the file that was sent.', {
    facts: [`its SHA-256 here is ${sha256}`],
  })
}

function jsonOf(text: string): unknown {
  const found = parseAnswer(text)
  // Not every answer is JSON (pages, proxies in between): the text itself is the answer then.
  return found === undefined ? withoutMarks(text) : found.value
}

/** Why an answer that should have been a file or a stream is none. */
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
