import { type Block, textOfBlock } from './blocks.ts'
import { type NamedOperation, namesIn, type OperationMethod, piecesOf } from './operation-names.ts'

export type Parameter = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
  readonly in: 'path' | 'query' | 'header' | 'body'
}

/** An operation that documentation describes, and where. */
export type ApiOperation = {
  readonly method: OperationMethod
  /** With `{name}` for what varies. */
  readonly path: string
  /** Scheme and host, where the place names them. */
  readonly origin: string | null
  /** 0 to 1: how sure it is that this is an operation, and this one. */
  readonly confidence: number
  /** The words that say so. */
  readonly evidence: string
  /** Heading that it stands under. */
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly request: unknown
  /** Status → an example of its body, undefined without one. */
  readonly responses: ReadonlyMap<string, unknown>
}

const MAX_OPERATIONS = 200
const MAX_EVIDENCE_CHARS = 200
type Open = { -readonly [K in keyof ApiOperation]: ApiOperation[K] } & {
  parameters: Parameter[]
  responses: Map<string, unknown>
  bodyNext: boolean
}

/** All operations that a document describes, each once, in its order. */
export function operationsIn(blocks: readonly Block[]): ApiOperation[] {
  const found = new Map<string, Open>()
  let heading = ''
  let last: Open | undefined
  for (const block of blocks.flatMap(piecesOf)) {
    const named = namesIn(block)
    for (const name of named) last = note(found, name, heading) ?? last
    if (block.kind === 'heading') {
      if (named.length === 0 && block.level <= 2) last = undefined
      heading = block.text
    } else if (last) describe(last, block)
  }
  return [...found.values()]
}

function note(found: Map<string, Open>, name: NamedOperation, heading: string): Open | undefined {
  const { origin, path, query } = placeOf(name.url)
  if (path === undefined) return undefined
  const key = `${name.method} ${path}`
  const known = found.get(key)
  if (!known && found.size >= MAX_OPERATIONS) return undefined
  const open = known ?? begun(name, path, heading)
  if (known) makeSurer(known, name)
  open.origin ??= origin
  for (const parameter of query) addQuery(open, parameter)
  found.set(key, open)
  return open
}

function begun({ method, confidence, evidence }: NamedOperation, path: string, heading: string): Open {
  return {
    method,
    path,
    origin: null,
    confidence,
    evidence: evidence.slice(0, MAX_EVIDENCE_CHARS).toWellFormed(),
    summary: heading,
    parameters: pathParameters(path),
    request: undefined,
    responses: new Map(),
    bodyNext: false,
  }
}

const SURER = 0.05

/** Told twice in different ways, it is surer than by either. */
function makeSurer(known: Open, { confidence, evidence }: NamedOperation): void {
  if (known.evidence !== evidence) known.confidence = Math.min(1, Math.max(known.confidence, confidence) + SURER)
}

function addQuery(open: Open, name: string): void {
  if (open.parameters.some((one) => one.name === name)) return
  open.parameters.push({ name, type: 'string', required: false, description: '', in: 'query' })
}

const VARYING = /^(\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|[a-z]{2,5}_\w{6,})$/i

function placeOf(text: string): { origin: string | null; path: string | undefined; query: string[] } {
  const [, origin = null, rest = text] = /^(https?:\/\/[^/\s]+)(.*)$/i.exec(text) ?? []
  const [rawPath = '', rawQuery = ''] = rest.split('?', 2)
  const segments = rawPath
    .replace(/[.:,]+$/, '')
    .split('/')
    .filter(Boolean)
  const path = `/${segments.map(segmentOf).join('/')}`
  const query = rawQuery.split('&').flatMap((pair) => /^([\w.[\]-]{1,60})=?/.exec(pair)?.[1] ?? [])
  const isPath = (text.includes('/') && /^[/\w{}.~:@%*+-]+$/.test(path)) || path === '/'
  return { origin, path: isPath ? path : undefined, query }
}

function segmentOf(segment: string, at: number, all: readonly string[]): string {
  const name = /^(?::|<|\{|\[)([\w-]+)(?:>|\}|\])?$/.exec(segment)?.[1]
  if (name !== undefined) return `{${name.replaceAll('-', '_')}}`
  if (!VARYING.test(segment) || /^v\d+$/.test(segment)) return segment.replace(/[{}]/g, '')
  const before = all[at - 1]?.replace(/s$/, '').replace(/\W/g, '') ?? ''
  return before === '' || /^v\d+$/.test(before) ? '{id}' : `{${before}_id}`
}

function pathParameters(path: string): Parameter[] {
  const names = [...new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))]
  return names.map((name) => ({ name, type: 'string', required: true, description: '', in: 'path' }))
}

/** What stands after an operation and is about it: its parameters, examples and statuses. */
function describe(operation: Open, block: Block): void {
  if (block.kind === 'table') describeTable(operation, block.rows)
  else if (block.kind === 'code') describeExample(operation, block.text)
  else {
    operation.bodyNext =
      /\b(request|body|payload)\b/i.test(block.text) && !/\brespon(se|ds)|returns\b/i.test(block.text)
    const status = /^(?:HTTP )?\b([1-5]\d\d)\b/.exec(block.text)?.[1]
    if (status !== undefined && !operation.responses.has(status)) operation.responses.set(status, undefined)
  }
}

const NAME_HEAD = /^(name|parameter|param|field|property|attribute|key|argument|header)s?$/i

function describeTable(operation: Open, rows: readonly (readonly string[])[]): void {
  const [head = [], ...body] = rows
  const column = (pattern: RegExp) => head.findIndex((cell) => pattern.test(cell.trim()))
  const name = column(NAME_HEAD)
  if (name < 0) statusRows(operation, rows)
  else {
    const at = { type: column(/^type$/i), required: column(/^required/i), place: column(/^(in|location)$/i) }
    const columns = { ...at, name, description: column(/description|meaning|details/i) }
    for (const row of body.slice(0, MAX_OPERATIONS)) describeRow(operation, row, columns)
  }
}

type Columns = Record<'name' | 'type' | 'required' | 'place' | 'description', number>

function describeRow(operation: Open, row: readonly string[], columns: Columns): void {
  const cell = (column: keyof Columns) => row[columns[column]] ?? ''
  const [name = ''] = /^[\w.[\]-]{1,80}/.exec(cell('name')) ?? []
  if (name === '') return
  const place = whereOf(operation, name, cell('place'))
  const known = operation.parameters.findIndex((one) => one.name === name && one.in === place)
  const says =
    /^(yes|true|required|✓|✔)/i.test(cell('required')) || /\brequired\b/i.test(`${cell('name')} ${cell('type')}`)
  const parameter: Parameter = {
    name,
    type: typeOf(cell('type')),
    required: says || place === 'path',
    description: cell('description').slice(0, MAX_EVIDENCE_CHARS).toWellFormed(),
    in: place,
  }
  if (known >= 0) operation.parameters[known] = parameter
  else operation.parameters.push(parameter)
}

function whereOf({ method, path }: Open, name: string, told: string): Parameter['in'] {
  if (path.includes(`{${name}}`)) return 'path'
  const place = told.trim().toLowerCase()
  if (place === 'query' || place === 'header' || place === 'body') return place
  return method === 'GET' || method === 'DELETE' || method === 'HEAD' ? 'query' : 'body'
}

function typeOf(text: string): string {
  const word = text.toLowerCase()
  if (/int|long/.test(word)) return 'integer'
  if (/number|float|double|decimal/.test(word)) return 'number'
  if (/bool/.test(word)) return 'boolean'
  if (/array|list|\[\]/.test(word)) return 'array'
  return /object|map|hash|json/.test(word) ? 'object' : 'string'
}

function statusRows(operation: Open, rows: readonly (readonly string[])[]): void {
  for (const row of rows) {
    const status = /^([1-5]\d\d)\b/.exec(row[0] ?? '')?.[1]
    if (status !== undefined && !operation.responses.has(status)) operation.responses.set(status, undefined)
  }
}

const MAX_EXAMPLE_CHARS = 20_000

function describeExample(operation: Open, text: string): void {
  const inCurl = /(?:-d|--data\S*|--json)\s+'([\s\S]{2,20000}?)'/.exec(text)?.[1]
  if (inCurl !== undefined) {
    operation.request ??= jsonOf(inCurl)
    return
  }
  const status = /^HTTP\/[\d.]+ ([1-5]\d\d)/.exec(text)?.[1]
  const example = jsonOf(text.slice(Math.max(0, text.search(/[{[]/))))
  if (example === undefined) return
  if (operation.bodyNext && operation.request === undefined && operation.method !== 'GET') operation.request = example
  else operation.responses.set(status ?? '200', operation.responses.get(status ?? '200') ?? example)
  operation.bodyNext = false
}

function jsonOf(text: string): unknown {
  if (text.length > MAX_EXAMPLE_CHARS || !/^\s*[{[]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined // an example with dots or comments in it shows nothing that could be kept
  }
}

/** All that documents say, as one text to look for words in. */
export function proseOf(blocks: readonly Block[]): string {
  return blocks.map(textOfBlock).join('\n')
}
