import type { Request, WireAnswer, WireEvent } from '../api/endpoint/define.ts'
import type { Api, EndpointName } from '../api/index.ts'
import { AppError } from '../core/error.ts'
import type { Callable, Streaming } from './answers.ts'
import { endpoints } from './endpoints.ts'
import type { HttpMethod, TransportRequest } from './transport.ts'
import type { SentFile } from './upload.ts'

export type { Callable }
/** Endpoints that answer no JSON are opened. */
export type OpenName = Exclude<EndpointName, Callable>

/** What is asked of an endpoint, typed by the contract, and how it is sent. */
export type Asked<K extends EndpointName> = Request<Api[K]> & FileOf<Api[K]> & Sending

/** The body that an endpoint takes. */
export type SentBody<K extends EndpointName> =
  Request<Api[K]> extends { readonly body?: infer B } ? NonNullable<B> : never

/** The query that an endpoint takes. */
export type Queried<K extends EndpointName> =
  Request<Api[K]> extends { readonly query?: infer Q } ? NonNullable<Q> : never

export type Sending = Pick<TransportRequest, 'headers' | 'timeoutMs' | 'signal'>

/** Endpoints that take a file as JSON too can do without one. */
type FileOf<E> = E extends { body: { kind: 'multipart'; orJson: infer O } }
  ? O extends true
    ? { readonly file?: SentFile | undefined }
    : { readonly file: SentFile }
  : object

/** What opens an endpoint, as the contract says: which credential goes along. */
export type Opens = (typeof endpoints)[EndpointName][2]

/** Any call, ready to be sent. */
export type Words = Sending & {
  readonly method: HttpMethod
  /** Without its query. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  /** Sent as JSON, or beside `file` as the fields of a form. */
  readonly body?: unknown
  /** Streamed as the file of a form; the hash in the answer is held against what was sent. */
  readonly file?: SentFile | undefined
}

type AnyAsked = Omit<Words, 'method' | 'path'> & { readonly params?: Readonly<Record<string, string>> }

/** The functions of this file: typed by the endpoint outside, the same for all of them inside. */
type Client = {
  /** A call in words: its method, its path with the parameters in it. @throws AppError invalid_request for an empty one. */
  wordsOf<K extends EndpointName>(name: K, asked: Asked<K>): Words & { readonly opens: Opens }
}

export const { wordsOf }: Client = {
  wordsOf(name: EndpointName, { params, ...rest }: AnyAsked) {
    const [method, path, opens] = endpoints[name]
    return { ...rest, method, path: filledPath(path, params), opens }
  },
}

/** Puts parameters into the `:name` places of a path. @throws TypeError when one is missing: the types ask for all. */
function filledPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replace(/:([A-Za-z]+)/g, (_place, name: string) => {
    const value = params[name]
    if (value === undefined) throw new TypeError(`${path} needs ${name}`)
    if (value === '') throw new AppError('invalid_request', `${name} is empty.`)
    return encodeURIComponent(value)
  })
}

/** The query of an address, with its question mark; empty where nothing is given. */
export function queryText(query: Words['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}

const loading = () => Promise.all([import('./answers.ts'), import('./check.ts')])
let shapes: ReturnType<typeof loading> | undefined

/** To import what is there already costs more than to read a message of a stream. */
function loaded(): ReturnType<typeof loading> {
  shapes ??= loading()
  return shapes
}

/**
 * What an endpoint answered, as the contract has it. The shapes are loaded with the first answer, and without the
 * contract itself: its schemas cost more than the call.
 * @throws BadAnswer for another version, or no souk at all.
 */
export async function readAnswer<K extends Callable>(name: K, body: unknown): Promise<WireAnswer<Api[K]>> {
  const [tables, { checkAnswer }] = await loaded()
  const holds: (body: unknown) => asserts body is WireAnswer<Api[K]> = (value) =>
    checkAnswer(value, tables.answers[name], tables.shared)
  holds(body)
  return body
}

/** One message of a stream; undefined for one that is not of this version, and is passed over. */
export async function readEvent<K extends Streaming>(name: K, text: string): Promise<WireEvent<Api[K]> | undefined> {
  const [tables, { checkAnswer, BadAnswer }] = await loaded()
  const holds: (event: unknown) => asserts event is WireEvent<Api[K]> = (value) =>
    checkAnswer(value, tables.events[name], tables.shared)
  try {
    const event: unknown = JSON.parse(text)
    holds(event)
    return event
  } catch (error) {
    if (error instanceof BadAnswer || error instanceof SyntaxError) return undefined
    throw error
  }
}
