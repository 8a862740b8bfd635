import {
  auths,
  kept,
  RECORDED_LINE_BYTES_MAX,
  RECORDING_FORM,
  type RecordedExchange,
} from '../../client/recording/exchange.ts'
import { idPattern } from '../../client/recording/shape.ts'
import { isObject } from '../../core/json.ts'
import { compact } from '../../core/record.ts'
import { byteSize } from '../../text/text.ts'
import { usage } from '../exit.ts'
import {
  checkFields,
  checkPath,
  type FilePlace,
  faulty,
  methods,
  PATH_CHARS_MAX,
  type Read,
  type ReplayRequest,
  refuseMore,
} from './recorded.ts'

/** The requests of a recording or of a log, whose lines may be mixed. @throws CliError usage by line and field */
export function readLines(file: string, text: string): Read {
  const requests: ReplayRequest[] = []
  const formats = new Set<Read['format']>()
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const read = readLine({ file, line: at + 1 }, line)
    formats.add(read.format)
    if (read.request) requests.push(read.request)
    refuseMore(file, requests.length)
  }
  if (requests.length === 0) throw usage(`${file} holds no request.`, { next: ['souk logs --json'] })
  return { format: formats.has('recording') ? 'recording' : 'log', requests }
}

/** A log tells of more than requests. */
function readLine(
  place: FilePlace,
  line: string,
): { readonly format: Read['format']; readonly request?: ReplayRequest } {
  const value = jsonOf(place, line)
  if ('recorded' in value) return { format: 'recording', request: fromRecording(place, value) }
  if ('level' in value && 'source' in value)
    return { format: 'log', ...('remembered' in value ? { request: fromLog(place, value) } : {}) }
  throw faulty(place, 'recorded', `must be ${RECORDING_FORM}, as --record writes it, or the line one of souk logs`)
}

function jsonOf(place: FilePlace, line: string): Readonly<Record<string, unknown>> {
  if (Buffer.byteLength(line) > RECORDED_LINE_BYTES_MAX)
    throw faulty(place, 'it', `must be at most ${byteSize(RECORDED_LINE_BYTES_MAX)} long`)
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value
  } catch {
    // Said below: what is no JSON is no object either.
  }
  throw faulty(place, 'it', 'must be one JSON object')
}

const path = ['s', 1, PATH_CHARS_MAX]
const method = ['=', ...methods]
const RECORDING = JSON.stringify({
  recorded: ['=', RECORDING_FORM],
  at: 's',
  method,
  path,
  auth: ['=', ...auths],
  'body?': '*',
  'left_out?': ['s', 1, 200],
  status: ['i', 100, 599],
  'ms?': ['i', 0, null],
  'shape?': ['{', 's'],
  'ids?': ['{', ['/', `^${idPattern}$`]],
})
const LOGGED = JSON.stringify({
  method,
  path,
  status: ['|', ['i', 100, 599], '0'],
  ms: ['|', ['i', 0, null], '0'],
  caller: ['|', 's', '0'],
  price: ['|', 's', '0'],
})

type Line = Readonly<Record<string, unknown>>

function fromRecording(place: FilePlace, line: Line): ReplayRequest {
  checkFields(place, line, RECORDING)
  // Its fields were looked at: this is what the shape above says.
  const { method, path, auth, body, left_out, status, ms = null, shape, ids } = line as unknown as RecordedExchange
  checkPath(place, 'path', path)
  // Whoever wrote the file may have put in what a recording leaves out.
  const again = kept({ path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const more = compact({ shape, ids, left_out: left_out ?? again.left_out })
  return { line: place.line, method, auth, status, ms, ...again, ...more }
}

type Logged = Pick<ReplayRequest, 'method' | 'path' | 'status' | 'ms'> & { caller: string | null; price: string | null }

/** A log keeps neither bodies nor queries: what was asked with either cannot be asked again. */
function fromLog(place: FilePlace, line: Line): ReplayRequest {
  checkFields(place, line, LOGGED)
  const { method, path, status, ms, caller, price } = line as Logged
  checkPath(place, 'path', path)
  const isRead = method === 'GET' || method === 'HEAD'
  const known = caller === 'admin' ? 'admin' : 'key'
  const auth = caller === null ? 'none' : known
  return {
    line: place.line,
    method,
    status,
    ms,
    auth: price === null ? auth : 'payment',
    ...kept({ path, ...(isRead ? {} : { odd: 'its body: a log keeps none' }) }),
  }
}
