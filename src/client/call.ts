import type { EndpointName, WireAnswer, WireEvent } from '../api/index.ts'
import { AppError } from '../core/error.ts'
import type { Asked, Callable, Sending, Streaming } from './asked.ts'
import { endpoints } from './endpoints.ts'
import type { HttpMethod } from './transport.ts'
import type { SentFile } from './upload.ts'

/** Who may call an endpoint; this decides which credential is sent. */
export type Opens = (typeof endpoints)[EndpointName][2]

/** A request ready to send. */
export type Words = Sending & {
  readonly method: HttpMethod
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  /** JSON body. If there is a `file`, these are the other fields of the form. */
  readonly body?: unknown
  /** File of a form. The response must contain the file's hash. */
  readonly file?: SentFile | undefined
}

type AnyAsked = Omit<Words, 'method' | 'path'> & { readonly params?: Readonly<Record<string, string>> }

/**
 * The request that asks an endpoint, for code that passes on what its caller asked: `asked` is an `Asked<typeof name>`,
 * which the type checker would compare with that of all endpoints.
 * @throws AppError `invalid_request` for an empty parameter
 */
export function passedOn(name: EndpointName, asked: unknown): Words & { readonly opens: Opens } {
  const { params, ...rest } = asked as AnyAsked
  const [method, path, opens] = endpoints[name]
  return { ...rest, method, path: filledPath(path, params), opens }
}

/** The same, with what is asked typed by the endpoint. */
export function wordsOf<K extends string>(name: K & EndpointName, asked: Asked<K>): ReturnType<typeof passedOn> {
  return passedOn(name, asked)
}

/** Fills `:name` parameters. @throws TypeError for a missing one; AppError invalid_request for an empty one */
function filledPath(path: string, params: Readonly<Record<string, string>> = {}): string {
  return path.replace(/:([A-Za-z]+)/g, (_place, name: string) => {
    const value = params[name]
    if (value === undefined) throw new TypeError(`${name}: required by ${path}`)
    if (value === '') throw new AppError('invalid_request', `${name} is empty.`)
    return encodeURIComponent(value)
  })
}

/** Query string with question mark; empty if none. */
export function queryText(query: Words['query'] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}

const loading = () => Promise.all([import('./answers.ts'), import('./check.ts')])
let shapes: ReturnType<typeof loading> | undefined

/** Loads the modules once: importing them again costs more than reading a message. */
function loaded(): ReturnType<typeof loading> {
  shapes ??= loading()
  return shapes
}

/**
 * Validates a response. Loads the shapes, not the API contract, whose schemas take longer to load than the call takes.
 * @throws BadAnswer if the server has another version, or is no souk
 */
export async function readAnswer<K extends string>(name: K & Callable, body: unknown): Promise<WireAnswer<K>> {
  const [tables, { checkAnswer }] = await loaded()
  checkAnswer(body, tables.answers[name], tables.shared)
  return body as WireAnswer<K>
}

/** Validates a stream's message. Returns undefined for a message of another version, so that callers skip it. */
export async function readEvent<K extends string>(
  name: K & Streaming,
  text: string,
): Promise<WireEvent<K & Streaming> | undefined> {
  const [tables, { checkAnswer, BadAnswer }] = await loaded()
  try {
    const event: unknown = JSON.parse(text)
    checkAnswer(event, tables.events[name], tables.shared)
    return event as WireEvent<K & Streaming>
  } catch (error) {
    if (error instanceof BadAnswer || error instanceof SyntaxError) return undefined
    throw error
  }
}
