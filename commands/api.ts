import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { readDocument, textOf } from '../src/cli/files/document.ts'
import type { Io } from '../src/cli/io.ts'
import { operationsOf, readOpenApi } from '../src/cli/nouns/interface/openapi.ts'
import { listMember } from '../src/cli/output.ts'
import { type NextPage, nextOffset, pagesOf } from '../src/cli/paging.ts'
import * as z from '../src/cli/params.ts'
import type { RawCall, Session } from '../src/cli/session.ts'
import { headerIn, pairOf } from '../src/cli/split-words.ts'
import { readable, type Target, unreachable } from '../src/cli/target.ts'
import { payFor } from '../src/cli/wallet/paying.ts'
import { queryText } from '../src/client/call.ts'
import type { RawAnswer } from '../src/client/exchange.ts'
import { writePrivate } from '../src/client/files.ts'
import { PinMismatch, pinnedKey } from '../src/client/pin.ts'
import {
  type HttpMethod,
  isSecretHeader,
  REQUEST_TIMEOUT_MS,
  readOnTheWay,
  TransportError,
} from '../src/client/transport.ts'
import { isObject, jsonOrText } from '../src/core/json.ts'
import { didYouMean, dim, harmless, shellWord } from '../src/text/text.ts'

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH'] as const

const options = z.object({
  method: z
    .anyCase(methods)
    .optional()
    .meta({ short: 'X', description: 'HTTP method (default: GET; with a body: POST)', value: 'method' }),
  field: z.list({ short: 'f', description: 'a text field', value: 'k=v' }),
  typed: z.list({ short: 'F', description: 'a field as number, true, null, JSON or @file', value: 'k=v' }),
  headers: z.list({ short: 'H', description: 'a request header', value: 'name: value' }),
  input: z.text({ description: 'file with the request body, - for stdin', value: 'file' }),
  include: z.flag({ short: 'i', description: 'print status and headers too' }),
  paginate: z.flag({ description: 'fetch all pages of a list and merge them' }),
  slurp: z.flag({ description: 'with --paginate: print an array of pages' }),
  silent: z.flag({ description: 'do not print the response' }),
  curl: z.flag({ description: 'print a curl command instead; credentials stay in a file' }),
})
type Options = z.output<typeof options>
type Context = CommandContext<{ target: string }, Options>

export const command = defineCommand({
  name: 'api',
  heading: 'Health and interface',
  summary: 'send an API request by path or operation name',
  description:
    'Fields become the query of a GET, and the JSON body of other methods. A field with the name of a placeholder in the path fills that placeholder. A 402 is paid within --max-price.',
  args: z.object({
    target: z.string().meta({ description: 'path or operation name, such as /v1/services/catalog or getCatalog' }),
  }),
  options,
  ownText: true, // a text body is shown unchanged, line by line
  examples: [
    'souk api /v1/services/catalog -f limit=2',
    'souk api getCatalog -f q=qr',
    'souk api getCatalog --paginate --slurp',
    'souk api /v1/balance --curl',
    'souk api /health -i',
  ],
  /**
   * Returns the response unchanged; its schema is in the instance's OpenAPI description. Other results: `{status,
   * headers, body}` with `-i`, `{curl, credentials}` with `--curl`, and `{}` with `--silent`.
   */
  async run(context) {
    const { curl, include, paginate, silent } = refuseOdd(context)
    const session = await context.session()
    const call = await callOf(context, session)
    if (curl) return curlOf(context, session, { ...call, headers: await headersOf(session, call) })
    if (paginate) return allPages(context, session, call)
    const answer = await send(context, session, call)
    if (silent) return {}
    if (!include) return answer.body
    return { status: answer.status, headers: answer.headers, body: answer.body }
  },
  view(data, io) {
    if (isCurl(data)) io.line(data.curl)
    else if (isObject(data) && typeof data.status === 'number' && isObject(data.headers)) {
      io.line(`HTTP ${data.status}`)
      for (const [name, value] of Object.entries(data.headers)) io.line(dim(harmless(`${name}: ${value}`)))
      io.line()
      show(data.body, io)
    } else show(data, io)
  },
})

function show(body: unknown, io: Io): void {
  if (typeof body !== 'string') io.json(body)
  // On a terminal each line gets a prefix; a pipe gets the raw response.
  else if (io.isTty) for (const line of body.split('\n')) io.line(dim('│ ') + harmless(line))
  else io.line(body)
}

/** @throws CliError `usage` for contradicting flags */
function refuseOdd({ options: given, globals }: Context): Options {
  const alone = [given.paginate && '--paginate', given.curl && '--curl', given.include && '-i'].filter(Boolean)
  if (alone.length > 1) throw usage(`${alone.join(' and ')} cannot be combined.`)
  if (given.slurp && !given.paginate) throw usage('--slurp needs --paginate.')
  if (given.paginate && globals.idempotencyKey !== undefined)
    throw usage('--paginate cannot be combined with --idempotency-key: each page is a separate request.')
  return given
}

function isCurl(data: unknown): data is CurlLine {
  return isObject(data) && typeof data.curl === 'string' && 'credentials' in data
}

function isAdministrative({ path }: RawCall): boolean {
  return /^\/(dashboard\/api\/admin|metrics)\b/.test(path)
}

async function headersOf(session: Session, call: RawCall): Promise<Readonly<Record<string, string>>> {
  if (isAdministrative(call)) return { ...(await session.adminHeaders()), ...call.headers }
  const key = await session.apiKey()
  return { ...(key === undefined ? {} : { 'x-api-key': key }), ...call.headers }
}

async function send(context: Context, session: Session, call: RawCall): Promise<RawAnswer> {
  const signed = { ...call, headers: await headersOf(session, call) }
  if (isAdministrative(signed) || context.globals.pay === 'none') return session.send(signed)
  const idempotencyKey = context.globals.idempotencyKey ?? crypto.randomUUID()
  return (await payFor(context, session, { ...signed, idempotencyKey })).answer
}

/** Reads all pages of a list, by offset or cursor. Returns the rows as one list, or with --slurp an array of pages. */
async function allPages(context: Context, session: Session, call: RawCall): Promise<unknown> {
  if (call.method !== 'GET') throw usage('--paginate works only with GET.')
  const pages: unknown[] = []
  const paged = {
    ask: async (at?: NextPage) => (await send(context, session, { ...call, query: { ...call.query, ...at } })).body,
    rowsOf: (page: unknown) => listMember(page)?.elements ?? [],
    nextOf,
  }
  for await (const page of pagesOf(paged)) pages.push(page)
  if (context.options.slurp) return pages
  const [first] = pages
  const list = listMember(first)
  if (list === undefined) return first
  const { offset: _offset, limit: _limit, ...envelope } = { ...list.envelope } as Record<string, unknown>
  const rows = pages.flatMap((page) => listMember(page)?.elements ?? [])
  return { ...envelope, ...('next_cursor' in envelope ? { next_cursor: null } : {}), [list.name]: rows }
}

function nextOf(page: unknown): NextPage | undefined {
  const list = listMember(page)
  if (list === undefined || !isObject(page)) return undefined
  if (typeof page.next_cursor === 'string') return { cursor: page.next_cursor }
  const { total, offset = 0 } = page
  if (typeof total !== 'number' || typeof offset !== 'number') return undefined
  return nextOffset({ total, offset }, list.elements.length)
}

async function callOf(context: Context, session: Session): Promise<RawCall> {
  const { options: given, args } = context
  const members = {
    ...membersOf(given.field, String),
    ...membersOf(given.typed, (text) => (text.startsWith('@') ? textOf(text.slice(1)) : jsonOrText(text))),
  }
  const row = args.target.startsWith('/') ? undefined : await operation(session, args.target)
  const method = given.method ?? row?.method ?? (given.input === undefined ? 'GET' : 'POST')
  const { path, rest } = filled(row?.path ?? args.target, members)
  const base = { method, path, headers: Object.fromEntries(given.headers.map(headerOf)) }
  if (method === 'GET' || method === 'HEAD') {
    if (row) refuseUnknown(row, rest)
    return { ...base, query: queryOf(rest) }
  }
  if (given.input !== undefined) return { ...base, body: await readDocument(context.io, given.input) }
  return Object.keys(rest).length === 0 ? base : { ...base, body: rest }
}

function membersOf(pairs: readonly string[], read: (text: string) => unknown): Record<string, unknown> {
  const typed = pairs.map((pair) => pairOf(pair, `"${pair}" must be name=value.`))
  return Object.fromEntries(typed.map(([name, value]) => [name, read(value)]))
}

function headerOf(text: string): [string, string] {
  const [name, value] = headerIn(text)
  if (PAYING.includes(name.toLowerCase())) {
    throw usage(`${name} would bypass the spending limits of the wallet.`, { next: ['… --pay balance'] })
  }
  return [name, value]
}

/** Headers that pay outside the wallet's limits. Payment headers are not among them: they were counted when signed. */
const PAYING = ['x-balance-auth']

function queryOf(members: Readonly<Record<string, unknown>>): NonNullable<RawCall['query']> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  )
}

/** Fills `:name` and `{name}` placeholders. @throws CliError `usage` for a missing member */
function filled(template: string, members: Readonly<Record<string, unknown>>) {
  const rest = { ...members }
  const path = template.replace(/:([A-Za-z]+)|\{(\w+)\}/g, (_whole, colon?: string, brace?: string) => {
    const name = colon ?? brace ?? ''
    if (!(name in rest)) throw usage(`The path ${template} needs ${name}.`, { next: [`… -f ${name}=VALUE`] })
    const value = encodeURIComponent(String(rest[name]))
    delete rest[name]
    return value
  })
  return { path, rest }
}

type Operation = { readonly method: HttpMethod; readonly path: string; readonly name: string; readonly query: string[] }

/** The instance ignores parameters that it does not know, so a typo would give misleading results. */
function refuseUnknown({ name, query }: Operation, members: Readonly<Record<string, unknown>>): void {
  const stranger = Object.keys(members).find((member) => !query.includes(member))
  if (stranger === undefined) return
  throw usage(`${name} has no filter ${stranger}${didYouMean(stranger, query)}.`, {
    facts: query.length === 0 ? [] : [`filters: ${query.join(', ')}`],
  })
}

function queryNames(operation: Readonly<Record<string, unknown>>): string[] {
  const parameters: readonly unknown[] = Array.isArray(operation.parameters) ? operation.parameters : []
  return parameters.flatMap((one) => (isObject(one) && one.in === 'query' ? [String(one.name)] : []))
}

const ways = ['souk endpoints list', 'souk api /PATH']

/** Finds an operation by its name in the instance's OpenAPI description. */
async function operation(session: Session, name: string): Promise<Operation> {
  if (!/^\w+$/.test(name)) throw usage(`${name} is neither a path nor the name of an operation.`, { next: ways })
  const rows = [...operationsOf(await readOpenApi(session))].map(([place, operation]) => {
    const [method, path = ''] = place.split(' ')
    return {
      path,
      method: methods.find((known) => known === method) ?? 'GET',
      name: String(operation.operationId),
      query: queryNames(operation),
    }
  })
  const found = rows.find((row) => row.name === name)
  if (found) return found
  const names = rows.map((row) => row.name)
  throw new CliError('usage', `There is no operation ${name}${didYouMean(name, names)}.`, { next: ways })
}

const NAME_DIGITS = 12

/** A curl command, and the path of the file with its credentials. */
export type CurlLine = { readonly curl: string; readonly credentials: string | null }

type CurlContext = Pick<CommandContext<unknown, unknown>, 'places' | 'signal' | 'globals'>

/**
 * Writes a request as a curl command to paste. Credentials go to a private file, since process lists and shell history
 * show a command. If the target's certificate is pinned, the command accepts only that certificate's key.
 * @throws CliError `auth` if credentials would travel unencrypted; CliError if the server is unreachable or has another
 * certificate
 */
export async function curlOf(host: CurlContext, { target }: Session, call: RawCall): Promise<CurlLine> {
  const { places } = host
  const { method, path, query, headers = {}, body } = call
  if (readOnTheWay(target.url, Object.keys(headers), target.inTheClear)) throw readable(target)
  const all = Object.entries({ ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) })
  const secret = all.filter(([name]) => isSecretHeader(name)).map(headerLine)
  const credentials = secret.length === 0 ? null : keptIn(places.config, secret)
  const words = [
    'curl',
    // Without this flag, curl would expand brackets in URLs.
    '--globoff',
    ...(await pinWords(host, target)),
    ...methodWords(method),
    ...all.filter(([name]) => !isSecretHeader(name)).flatMap((header) => ['-H', headerLine(header)]),
    ...(credentials === null ? [] : ['-H', `@${credentials}`]),
    ...(body === undefined ? [] : ['--data-binary', JSON.stringify(body)]),
    target.url + path + queryText(query),
  ]
  return { curl: words.map(shellWord).join(' '), credentials }
}

/** Options with which curl accepts only the pinned key, whatever certificate authorities say. */
async function pinWords({ signal, globals }: CurlContext, target: Target): Promise<readonly string[]> {
  const { url, fingerprint } = target
  if (fingerprint === undefined) return []
  const patience = { timeoutMs: globals.timeoutMs ?? REQUEST_TIMEOUT_MS, signal }
  const key = await pinnedKey(new URL(url), fingerprint, patience).catch((error: unknown) => {
    throw unreachable(new TransportError(error instanceof PinMismatch ? 'untrusted' : 'broken', url, error), target)
  })
  return ['--insecure', '--pinnedpubkey', `sha256//${key}`]
}

function methodWords(method: RawCall['method']): readonly string[] {
  if (method === 'HEAD') return ['--head']
  return method === 'GET' ? [] : ['-X', method]
}

function headerLine([name, value]: [string, string]): string {
  return `${name}: ${value}`
}

/** Requests with the same credentials share one file, so that curl commands printed earlier stay valid. */
function keptIn(folder: string, lines: readonly string[]): string {
  const text = `${lines.join('\n')}\n`
  const name = createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS)
  const file = join(folder, 'curl', `${name}.headers`)
  writePrivate(file, text)
  return file
}
