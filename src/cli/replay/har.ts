import { authOf, kept, kindOf } from '../../client/recording/exchange.ts'
import { idsOf, shapeOf } from '../../client/recording/shape.ts'
import { isObject } from '../../core/json.ts'
import { usage } from '../exit.ts'
import {
  checkFields,
  checkPath,
  type FilePlace,
  faulty,
  methods,
  PATH_CHARS_MAX,
  type ReplayRequest,
  refuseMore,
} from './recorded.ts'

const URL_CHARS_MAX = PATH_CHARS_MAX + 300
const HEADERS_MAX = 200
const ORIGINS_SHOWN = 5

/** What is read of an entry of HTTP Archive 1.2. @see http://www.softwareishard.com/blog/har-12-spec/ */
type HarEntry = {
  readonly time?: number
  readonly request: {
    readonly method: (typeof methods)[number]
    readonly url: string
    readonly headers: readonly { readonly name: string; readonly value: string }[]
    readonly postData?: { readonly mimeType: string; readonly text?: string } | null
  }
  readonly response: {
    readonly status: number
    readonly content: { readonly mimeType: string; readonly text?: string; readonly encoding?: string }
  }
}

const ENTRY = JSON.stringify({
  'time?': 'n',
  request: {
    method: ['=', ...methods],
    url: ['s', 1, URL_CHARS_MAX],
    headers: ['[', { name: 's', value: 's' }, null, HEADERS_MAX],
    'postData?': ['|', { mimeType: 's', 'text?': 's' }, '0'],
  },
  response: { status: ['i', 0, 599], content: { mimeType: 's', 'text?': 's', 'encoding?': 's' } },
})

/** The requests to one host that a browser or a proxy kept. @throws CliError usage by entry and field */
export function readHar(file: string, text: string, origin: string | undefined): readonly ReplayRequest[] {
  const entries = entriesOf(file, text).map((entry, at) => {
    const place = { file, line: at + 1, what: 'entry' }
    checkFields(place, entry, ENTRY)
    // Its fields were looked at: this is what the shape above says.
    const known = entry as HarEntry
    return { place, entry: known, url: urlOf(place, known.request.url) }
  })
  const chosen = originOf(file, [...new Set(entries.map(({ url }) => url.origin))], origin)
  return entries.filter(({ url }) => url.origin === chosen).map(({ place, entry, url }) => fromEntry(place, entry, url))
}

function entriesOf(file: string, text: string): readonly unknown[] {
  const document = parsed(text)
  const log = isObject(document) ? document.log : undefined
  const entries = isObject(log) ? log.entries : undefined
  if (!Array.isArray(entries)) throw usage(`${file} is no HAR: log.entries must be a list.`)
  if (entries.length === 0) throw usage(`${file} holds no request.`)
  refuseMore(file, entries.length)
  return entries
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Said by who asks for a member of it.
    return undefined
  }
}

function urlOf(place: FilePlace, text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw faulty(place, 'request.url', 'must be an http or https address')
  checkPath(place, 'request.url', url.pathname + url.search)
  return url
}

function originOf(file: string, origins: readonly string[], wanted: string | undefined): string {
  const [first = '', ...more] = origins
  const found = wanted === undefined ? undefined : (URL.parse(wanted)?.origin ?? wanted)
  if (found === undefined && more.length === 0) return first
  if (found !== undefined && origins.includes(found)) return found
  const shown = origins.slice(0, ORIGINS_SHOWN).join(', ') + (origins.length > ORIGINS_SHOWN ? ', …' : '')
  const why =
    found === undefined ? `${file} was recorded from ${origins.length} hosts` : `${file} has no request to ${found}`
  throw usage(`${why}: choose one with --origin.`, { facts: [shown], next: [`… --origin ${first}`] })
}

function fromEntry({ line }: FilePlace, { time, request, response }: HarEntry, url: URL): ReplayRequest {
  const headers = Object.fromEntries(request.headers.map(({ name, value }) => [name.toLowerCase(), value]))
  const { postData } = request
  const sent =
    postData?.text === undefined || postData.text === '' ? oddOf(postData?.mimeType) : { body: postData.text }
  return {
    line,
    method: request.method,
    auth: authOf(headers),
    // A browser writes 0 for what it stopped itself.
    status: response.status === 0 ? null : response.status,
    ms: time === undefined ? null : Math.max(0, Math.round(time)),
    ...kept({ path: url.pathname + url.search, ...sent }),
    ...answerOf(response),
  }
}

function oddOf(mimeType = ''): { readonly odd?: string } {
  return /^multipart\//i.test(mimeType) ? { odd: 'the file that it sent' } : {}
}

function answerOf({ status, content }: HarEntry['response']): Pick<ReplayRequest, 'shape' | 'ids'> {
  const kind = kindOf(status, content.mimeType)
  if (kind !== 'json') return { shape: { '.': kind } }
  // Archives may leave out what was answered: then the status alone is compared.
  const value = content.text === undefined ? undefined : parsed(decoded(content.text, content.encoding))
  return value === undefined ? {} : { shape: shapeOf(value), ids: idsOf(value) }
}

function decoded(text: string, encoding: string | undefined): string {
  return encoding === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text
}
