import { randomUUID } from 'node:crypto'
import { usage } from '../cli/exit.ts'
import type { RawCall, Session, SessionHost } from '../cli/session.ts'
import { payFor } from '../cli/wallet/paying.ts'
import { endpoints } from '../client/endpoints.ts'
import type { RawAnswer } from '../client/exchange.ts'
import { jobTokenOf, keepAccount, keepJobToken } from '../client/secrets.ts'
import { isObject, isShallow } from '../core/json.ts'
import { MAX_JSON_DEPTH } from '../core/limits.ts'
import { formatPrice, parseAmount, type Usdc } from '../core/money.ts'
import { compact } from '../core/record.ts'
import { didYouMean } from '../text/text.ts'
import { type EndpointTool, isPaidTool, needsSignature, placesOfArguments, secretsOf } from './tools.ts'

export type ToolArguments = Readonly<Record<string, unknown>>

/**
 * Calls a tool's endpoint as the server's wallet.
 * @returns its response, and a sentence about the payment (null if nothing was paid). @throws command errors
 */
export async function callEndpoint(host: SessionHost, session: Session, { tool, given }: Calling) {
  const call = await callOf(host, session, { tool, given })
  const keeping = { places: host.places, instance: session.target.instance }
  if (!isPaidTool(tool.endpoint)) return { body: kept(keeping, tool, await session.send(call)), paid: null }
  const idempotencyKey = textOf(given, 'idempotency_key') ?? randomUUID()
  const { answer, payment } = await payFor(boundedHost(host, { tool, given }), session, { ...call, idempotencyKey })
  const paid = payment.method === 'none' ? null : `paid ${formatPrice(payment.amount)} by ${payment.method}`
  return { body: kept(keeping, tool, answer), paid }
}

/** An agent's `max_price` can lower the limit of the server, never raise it. */
function boundedHost(host: SessionHost, { tool, given }: Calling): SessionHost {
  const { globals } = host
  const limit = limitOf(given) ?? globals.maxPrice
  const maxPrice = limit < globals.maxPrice ? limit : globals.maxPrice
  return {
    ...host,
    globals: { ...globals, maxPrice, ...(needsSignature(tool.endpoint) ? { pay: 'x402' as const } : {}) },
  }
}

type Calling = { readonly tool: EndpointTool; readonly given: ToolArguments }

/** @throws CliError `usage` for an invalid amount */
function limitOf(given: ToolArguments): Usdc | undefined {
  const text = textOf(given, 'max_price')
  const amount = text === undefined ? undefined : parseAmount(text)
  if (text !== undefined && amount === undefined)
    throw usage(`max_price must be an amount such as 0.50; it is "${text}".`)
  return amount
}

function textOf(given: ToolArguments, name: string): string | undefined {
  const value = given[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object') throw usage(`${name} must be a string.`)
  return String(value)
}

/** Builds the request of a tool call. @throws CliError `usage` that names a missing or unknown argument */
async function callOf(host: SessionHost, session: Session, { tool, given }: Calling): Promise<RawCall> {
  const { params, query } = placesOfArguments(tool.endpoint)
  const { properties = {}, required = [] } = tool.inputSchema as { properties?: object; required?: readonly string[] }
  const known = Object.keys(properties)
  const stranger = Object.keys(given).find((name) => !known.includes(name))
  if (stranger !== undefined) throw strange(tool, stranger, known)
  const missing = required.filter((name) => given[name] === undefined)
  if (missing.length > 0) throw usage(`${tool.name} needs ${missing.join(', ')}.`)
  const deep = Object.keys(given).find((name) => !isShallow(given[name], MAX_JSON_DEPTH))
  if (deep !== undefined) throw usage(`${deep}: is nested more than ${MAX_JSON_DEPTH} levels deep.`)
  const [method, path] = endpoints[tool.endpoint]
  const filled = path.replace(/:([A-Za-z]+)/g, (_place, name: string) => placed(given, name))
  const values = compact(Object.fromEntries(query.map((name) => [name, textOf(given, name)])))
  const body = known.includes('body') ? { body: given.body ?? {} } : {}
  const headers = await headersFor(host, session, { tool, given, params })
  return { method, path: filled, ...(query.length === 0 ? {} : { query: values }), ...body, headers }
}

function strange(tool: EndpointTool, stranger: string, known: readonly string[]) {
  const meant = didYouMean(stranger, known)
  const isOfBody = known.includes('body') && meant === ''
  return usage(`${tool.name} has no argument ${stranger}${meant}.`, {
    facts: [`arguments: ${known.join(', ') || 'none'}`, ...(isOfBody ? ['put request fields into body'] : [])],
  })
}

function placed(given: ToolArguments, name: string): string {
  const value = textOf(given, name)
  if (value === undefined || value === '') throw usage(`${name} is empty.`)
  return encodeURIComponent(value)
}

type Opened = Calling & { readonly params: readonly string[] }

/** Credentials of a call: the admin key, a job's access token, or the wallet's API key. Signed calls have none. */
async function headersFor(host: SessionHost, session: Session, { tool, given, params }: Opened) {
  const { endpoint } = tool
  const kind = endpoints[endpoint][2]
  if (kind === 'admin') return session.adminHeaders()
  if (needsSignature(endpoint)) return {}
  const ids = params.map((name) => textOf(given, name) ?? '')
  const token = ids.map((id) => jobTokenOf(host.places, session.target.instance, id)).find((one) => one !== undefined)
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  const key = await session.apiKey()
  if (key !== undefined) return { 'x-api-key': key }
  return kind === 'key' ? session.ownHeaders() : {}
}

type Keeping = { readonly places: SessionHost['places']; readonly instance: string }

/** Saves the secrets of a response on this machine and hides them from the agent. */
function kept({ places, instance }: Keeping, { endpoint }: EndpointTool, { body }: RawAnswer): unknown {
  if (!isObject(body)) return body
  const { wallet, access_token: token, job_id: job, thread_id: thread } = body
  const secret = (name: string) => (typeof body[name] === 'string' ? body[name] : null)
  const account = { api_key: secret('api_key'), webhook_secret: secret('webhook_secret') }
  if (typeof wallet === 'string') keepAccount(places, instance, { wallet, ...account })
  if (typeof token === 'string' && typeof job === 'string') {
    keepJobToken(places, instance, { job, token, ...(typeof thread === 'string' ? { thread } : {}) })
  }
  const hidden = secretsOf(endpoint).filter((name) => ['api_key', 'access_token'].includes(name) && body[name])
  if (hidden.length === 0) return body
  return { ...body, ...Object.fromEntries(hidden.map((name) => [name, null])), kept_on_this_machine: hidden }
}
