import { sentencesOf } from '../service/english.ts'
import { type Block, textOfBlock } from './blocks.ts'
import { isCallOf, isExampleOf, jsonOf, placeOf, withoutValues } from './operation-examples.ts'
import {
  bareIn,
  labelsInTurn,
  type NamedOperation,
  namesIn,
  type OperationMethod,
  piecesOf,
} from './operation-names.ts'

export type Parameter = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
  readonly in: 'path' | 'query' | 'header' | 'body'
}

export type ApiOperation = {
  readonly method: OperationMethod
  /** With `{name}` for variables. */
  readonly path: string
  /** Scheme and host if given. */
  readonly origin: string | null
  /** Confidence from 0 to 1. */
  readonly confidence: number
  /** The quote that names the operation. */
  readonly evidence: string
  /** Words of its row, or the heading above it. */
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly request: unknown
  /** Example body by status; undefined for a status without an example. */
  readonly responses: ReadonlyMap<string, unknown>
}

const MAX_OPERATIONS = 200
const MAX_EVIDENCE_CHARS = 200
const MAX_PARAMETERS = 200
type Open = { -readonly [K in keyof ApiOperation]: ApiOperation[K] } & {
  parameters: Parameter[]
  responses: Map<string, unknown>
  bodyNext: boolean
  /** Whether the address ends with a slash. */
  slash: boolean
  /** First sentence below its name. */
  said: string
  /** Last short line that names a part of the operation, such as `Query parameters`. */
  saidLast: string
}

/** Headings of parts that belong to the operation above them, whatever their level. */
const PART_OF_ONE =
  /\b(param\w*|arguments?|quer(?:y|ies)|headers?|body|bodies|payload|requests?|respon\w+|returns?|examples?|errors?|curl|fields?|attributes?)\b/i

/** Unique operations of a document, in order of appearance. */
export function operationsIn(blocks: readonly Block[]): ApiOperation[] {
  const found = new Map<string, Open>()
  let heading = { text: '', level: 0 }
  let near: readonly Open[] = []
  const namesOf = namesInTurn()
  const subjectsOf = subjectsInTurn()
  for (const block of blocks.flatMap(piecesOf)) {
    const around = { heading: saidAbove(block, heading), near: near.at(-1) }
    const operation = namesOf(block)
      .flatMap((name) => note(found, name, around) ?? [])
      .at(-1)
    if (block.kind === 'heading') heading = block
    near = subjectsOf(block, { operation, level: heading.level })
    for (const one of near) describe(one, block, heading.text)
  }
  return withoutExamples([...found.values()])
}

/** Finds what each block is about: the operation named last, with those of the same address on the lines above it. */
function subjectsInTurn() {
  let last: { operations: readonly Open[]; level: number } = { operations: [], level: 0 }
  let isListed = false
  return (block: Block, { operation, level }: { operation: Open | undefined; level: number }) => {
    const isLine = isOneLine(block)
    // The parts of an operation may name it again.
    if (operation && !last.operations.includes(operation)) {
      const beside = isListed && isLine && last.operations[0]?.path === operation.path ? last.operations : []
      last = { operations: [...beside, operation], level }
    }
    const isOther = block.kind === 'heading' && level <= last.level && !PART_OF_ONE.test(block.text)
    if (isOther && !operation) last = { operations: [], level }
    isListed = operation !== undefined && isLine
    return last.operations
  }
}

function isOneLine(block: Block): boolean {
  return block.kind === 'code' && !block.text.trim().includes('\n')
}

/** What the heading above says of an operation: not if it is the title, an address, or a heading beside this one. */
function saidAbove(block: Block, { text, level }: { text: string; level: number }): string {
  const isOther = block.kind === 'heading' && (level === 1 || level >= block.level || /^\/\S*\W*$/.test(text))
  return isOther ? '' : text
}

/** Finds the operations of each block; in a chapter about endpoints, a path alone counts as an operation. */
function namesInTurn(): (block: Block) => NamedOperation[] {
  let chapter = ''
  let before = ''
  const labelledOf = labelsInTurn()
  return (block) => {
    if (block.kind === 'heading' && block.level <= CHAPTER_LEVEL) chapter = block.text
    const told = labelledOf(block)
    if (told) return [told]
    const names = namesIn(block)
    const said = block.kind === 'heading' ? chapter : before
    const bare = names.length === 0 && OF_ADDRESSES.test(chapter) ? bareIn(block, said) : names
    before = block.kind === 'text' ? block.text : ''
    return bare
  }
}

const CHAPTER_LEVEL = 2
/** Headings of chapters about endpoints. In them, a path without a method counts as an operation. */
const OF_ADDRESSES = /\b(endpoints?|routes?|rest|http)\b/i

/** Joins an operation told by an example path with the same operation documented with a placeholder. */
function withoutExamples(all: readonly Open[]): Open[] {
  const kept: Open[] = []
  for (const one of all) {
    one.path = withoutValues(one, [one.request, ...one.responses.values()])
    const documented = [...all, ...kept].find(
      (other) =>
        other !== one &&
        other.method === one.method &&
        (isExampleOf(one.path, other.path) || (kept.includes(other) && keyOf(one) === keyOf(other))),
    )
    if (documented) take(documented, one)
    else kept.push(one)
  }
  const headings = kept.map(({ summary }) => summary)
  const isIn = (one: Open, name: string) => one.parameters.some((own) => own.name === name && own.in === 'path')
  return kept.map((one) => ({
    ...one,
    path: one.slash ? `${one.path}/` : one.path,
    // A heading above several operations sums up none of them.
    summary: headings.filter((text) => text === one.summary).length > 1 ? one.said || one.summary : one.summary,
    parameters: [...pathParameters(one.path).filter(({ name }) => !isIn(one, name)), ...one.parameters],
  }))
}

function take(documented: Open, { parameters, request, responses, origin }: Open): void {
  for (const one of parameters) if (one.in !== 'path') put(documented, one)
  documented.request ??= request
  documented.origin ??= origin
  for (const [status, body] of responses) {
    documented.responses.set(status, documented.responses.get(status) ?? body)
  }
}

/** Paths that differ only in parameter names are one operation. */
function keyOf({ method, path }: Pick<Open, 'method' | 'path'>): string {
  return `${method} ${path.replace(/\{\w+\}/g, '{}')}`
}

type Around = { readonly heading: string /** The operation described here so far. */; readonly near: Open | undefined }

function note(found: Map<string, Open>, name: NamedOperation, { heading, near }: Around): Open | undefined {
  const { origin, path, query, slash } = placeOf(name.url)
  if (path === undefined) return undefined
  const { method } = name
  const isCall = name.isCall && near?.method === method && isCallOf(path, near.path)
  const key = keyOf({ method, path })
  const known = isCall ? near : found.get(key)
  if (!known && found.size >= MAX_OPERATIONS) return undefined
  const open = known ?? { ...begun(name, path, heading), slash }
  if (known) makeSurer(known, name)
  open.origin ??= origin
  for (const parameter of query) addQuery(open, parameter)
  if (!known) found.set(key, open)
  return open
}

function begun({ method, confidence, evidence, about }: NamedOperation, path: string, heading: string): Open {
  return {
    method,
    path,
    origin: null,
    confidence,
    evidence: shortly(evidence),
    summary: about || heading,
    parameters: pathParameters(path),
    request: undefined,
    responses: new Map(),
    bodyNext: false,
    slash: false,
    said: '',
    saidLast: '',
  }
}

const SURER = 0.05

/** Each further quote that names the operation raises the confidence. */
function makeSurer(known: Open, { confidence, evidence }: NamedOperation): void {
  if (known.evidence !== evidence) known.confidence = Math.min(1, Math.max(known.confidence, confidence) + SURER)
}

function addQuery(open: Open, name: string): void {
  if (open.parameters.some((one) => one.name === name)) return
  open.parameters.push({ name, type: 'string', required: false, description: '', in: 'query' })
}

function pathParameters(path: string): Parameter[] {
  const names = [...new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))]
  return names.map((name) => ({ name, type: 'string', required: true, description: '', in: 'path' }))
}

function describe(operation: Open, block: Block, heading: string): void {
  if (block.kind === 'table') describeTable(operation, block.rows, operation.saidLast || heading)
  else if (block.kind === 'code') describeExample(operation, block.text, heading)
  else if (block.kind !== 'heading') describeText(operation, block, heading)
}

const ITEM = /^([a-z_$][\w.[\]-]{0,59})\*?\s*(?:[([]([^)\]]{1,80})[)\]]\s*[-–—:]?|[-–—:])\s*(.*)$/is

function describeText(operation: Open, block: Block & { readonly text: string }, heading: string): void {
  const { text, kind } = block
  if (kind === 'text') operation.said ||= shortly(sentencesOf(text)[0] ?? '')
  operation.summary ||= operation.said
  if (kind === 'item') describeItem(operation, text, operation.saidLast || heading)
  if (kind === 'text' || /:$/.test(text))
    operation.saidLast = PART_OF_ONE.test(text) && text.length < MAX_LABEL_CHARS ? text : ''
  operation.bodyNext = /\b(request|body|payload)\b/i.test(text) && !/\brespon(se|ds)|returns\b/i.test(text)
  const status = /^(?:HTTP |Code:? )?\b([1-5]\d\d)\b/i.exec(text)?.[1]
  if (status !== undefined && !operation.responses.has(status)) operation.responses.set(status, undefined)
}

const COUNTED = /\bdefaults?\b(?: is| to|:)? \d+\b(?!\.\d)/i

/** A type at the end of a description: `Category ID (int)`. */
const IN_BRACKETS = /\((str(?:ing)?|int(?:eger)?|bool(?:ean)?|number|float|array|object)\)/i

/** Adds a parameter from a list item such as `size (integer, required): how large`. @param said text above the list */
function describeItem(operation: Open, text: string, said: string): void {
  const [, name, type = '', description = ''] = ITEM.exec(text) ?? []
  const place = placeSaid(said)
  if (name === undefined || place === undefined || place === 'answer') return
  const required = isRequired({ name: text.slice(0, name.length + 1), type, description }, said)
  const at = whereOf(operation, name, place)
  put(operation, {
    name,
    type: typeOf(type || IN_BRACKETS.exec(description)?.[1] || (COUNTED.test(description) ? 'integer' : '')),
    required: required || at === 'path',
    description: shortly(description),
    in: at,
  })
}

const NAME_HEAD = /^(name|parameter( name)?|param|field( name)?|property|attribute|key|argument|header|variable)s?$/i
const REQUIRED_HEAD = /^(required|mandatory|req\.?|needed|required\/optional|presence)\b/i
const YES = /^\W*(yes|y|true|required|mandatory|must|m|x|✓|✔|✅)\b|^[✓✔✅]/i
const MAX_LABEL_CHARS = 120

/** Adds a table's rows: parameters or statuses. @param said text above the table, such as `Query parameters` */
function describeTable(operation: Open, rows: readonly (readonly string[])[], said: string): void {
  const [head = [], ...body] = rows
  const column = (pattern: RegExp) => head.findIndex((cell) => pattern.test(cell.trim()))
  const name = column(NAME_HEAD)
  if (name < 0) statusRows(operation, rows)
  if (name < 0 || placeSaid(said) === 'answer') return
  const at = {
    type: column(/^(data ?)?(type|format)$/i),
    required: column(REQUIRED_HEAD),
    optional: column(/^optional\??$/i),
  }
  const place = column(/^(in|location|located in|where|param(eter)? type)$/i)
  const columns = { ...at, place, name, description: column(/description|meaning|details|notes?|comments?/i) }
  for (const row of body.slice(0, MAX_OPERATIONS)) describeRow(operation, row, { columns, said })
}

type Columns = Record<'name' | 'type' | 'required' | 'optional' | 'place' | 'description', number>

function describeRow(
  operation: Open,
  row: readonly string[],
  { columns, said }: { columns: Columns; said: string },
): void {
  const cell = (column: keyof Columns) => row[columns[column]]?.trim() ?? ''
  const [name = ''] = /^[\w.[\]-]{1,80}/.exec(cell('name').replace(/^[*`\s]+/, '')) ?? []
  if (name === '') return
  const [required, optional] = [cell('required'), cell('optional')]
  const texts = { name: cell('name'), type: cell('type'), description: cell('description') }
  const isTold = columns.required >= 0 ? YES.test(required) : columns.optional >= 0 && !YES.test(optional)
  const says = isTold || (columns.required < 0 && columns.optional < 0 && isRequired(texts, said))
  const place = whereOf(operation, name, placeSaid(cell('place')) ?? placeSaid(said))
  put(operation, {
    name,
    type: typeOf(texts.type),
    required: says || place === 'path',
    description: shortly(texts.description),
    in: place,
  })
}

/** Whether a parameter is required, by its name, type, description, or the text above. */
function isRequired(row: { name: string; type: string; description: string }, said: string): boolean {
  if (/\boptional\b/i.test(`${row.name} ${row.type}`) || /^\W*optional\b/i.test(row.description)) return false
  if (/\b(required|mandatory)\b|\*$/i.test(`${row.name} ${row.type}`.trim()) || /\*$/.test(row.name.trim())) return true
  return (
    /^\W*(required|mandatory)\b/i.test(row.description) ||
    (/\b(required|mandatory)\b/i.test(said) && !/\boptional\b/i.test(said))
  )
}

function put(operation: Open, parameter: Parameter): void {
  const known = operation.parameters.findIndex((one) => one.name === parameter.name && one.in === parameter.in)
  if (known >= 0) operation.parameters[known] = parameter
  else if (operation.parameters.length < MAX_PARAMETERS) operation.parameters.push(parameter)
}

function shortly(text: string): string {
  return text.slice(0, MAX_EVIDENCE_CHARS).toWellFormed()
}

type Place = Exclude<Parameter['in'], 'path'> | 'path' | 'any' | 'answer'

/** Place of parameters that a heading or table cell names, such as `query`; undefined if it names none. */
function placeSaid(words: string): Place | undefined {
  if (/\b(respon(se|ses|ds)|returns?|returned|answer|error)\b/i.test(words)) return 'answer'
  if (/\b(quer(?:y|ies)|url param\w*|querystring)\b/i.test(words)) return 'query'
  if (/\bheaders?\b/i.test(words)) return 'header'
  if (/\bpath\b/i.test(words)) return 'path'
  if (/\b(body|payload|form|form-?data|data param\w*|json)\b/i.test(words)) return 'body'
  return /\b(param\w*|arguments?|fields?|attributes?|inputs?|requests?)\b/i.test(words) ? 'any' : undefined
}

function whereOf({ method, path }: Open, name: string, told: Place | undefined): Parameter['in'] {
  if (path.includes(`{${name}}`)) return 'path'
  if (told === 'query' || told === 'header' || told === 'body') return told
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

const REQUEST_LINE = /^(?:POST|PUT|PATCH|DELETE)\s+\S/
const SENT = /\b(request|body|payload|data param\w*)\b/i

function describeExample(operation: Open, text: string, heading: string): void {
  const inCurl = /(?:-d|--data\S*|--json)\s+'([\s\S]{2,20000}?)'/.exec(text)?.[1]
  if (inCurl !== undefined) {
    operation.request ??= jsonOf(inCurl)
    return
  }
  const [, status = '200'] = /^HTTP\/[\d.]+ ([1-5]\d\d)/.exec(text) ?? /^\W*([1-5]\d\d)\b/.exec(heading) ?? []
  // In an HTTP message, an empty line precedes the body.
  const body = REQUEST_LINE.test(text) ? (text.split(/\n\s*\n/, 2)[1] ?? '') : text
  const example = jsonOf(body.slice(Math.max(0, body.search(/[{[]/))))
  if (example === undefined) return
  const isSent =
    operation.bodyNext || REQUEST_LINE.test(text) || (SENT.test(heading) && placeSaid(heading) !== 'answer')
  if (isSent && operation.request === undefined && operation.method !== 'GET') operation.request = example
  else operation.responses.set(status, operation.responses.get(status) ?? example)
  operation.bodyNext = false
}

/** All text of documents, for word searches. */
export function proseOf(blocks: readonly Block[]): string {
  return blocks.map(textOfBlock).join('\n')
}
