import { compact } from '../../../../src/core/record.ts'
import { oneLine } from '../web/document.ts'
import type { Block } from './blocks.ts'

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
export type OperationMethod = (typeof methods)[number]

export type NamedOperation = {
  readonly method: OperationMethod
  /** Absolute URL, or a path with `{name}` for variables. */
  readonly url: string
  /** Confidence from 0 to 1. */
  readonly confidence: number
  /** The quote that names the operation. */
  readonly evidence: string
  /** What the same row says of it. */
  readonly about?: string
  /** Whether it is a call, whose path may hold example values. */
  readonly isCall?: boolean
}

/** Confidence in an operation, by how the documentation names it. */
const sureness = { stated: 0.9, curl: 0.85, client: 0.75, prose: 0.6, bare: 0.5 } as const

const METHODS = methods.join('|')
/** A variable that stands for scheme and host. */
const BASE = String.raw`(?:\$?\{{1,2}[\w.]{1,60}\}{1,2}|\$\w{1,60})`
/** A URL or path, but not the slash in `GET/POST`. No space is needed between a method and the path. */
const ADDRESS = `(https?://[^\\s/"'<>]+|${BASE})?(/(?!\\s*(?:${METHODS})\\b)(?:<[\\w:-]{1,60}>|[^\\s"'<>|,;)])*)`
/** `GET /ducks`, `HTTP GET "/ducks"`. */
const STATED = `(?:HTTP\\s+)?(${METHODS})\\s*["'\`]?${ADDRESS}`
/** It may be numbered: `2) GET /ducks`. */
const WITH_METHOD = new RegExp(`^(?:\\d{1,3}[.)]\\s)?\\W{0,3}${STATED}`)
const FURTHER = new RegExp(`(?:\\band|\\bor|[,;/])\\s*${STATED}`, 'g')
/** An operation named in prose, such as: submit a PUT request to `/ducks/{id}`. */
const IN_PROSE = new RegExp(
  `\\b(${METHODS})\\s+(?:HTTP\\s+)?(?:requests?|calls?)\\s+(?:to|on|against)\\s+(?:the\\s+)?(?![.\\w]*\\.)["'\`_]?\\s?${ADDRESS}`,
  'g',
)
/** A list item that begins with an address of the reader's own host, such as `http://localhost:80/ducks - lists ducks`. */
const CALL = /^(https?:\/\/(?:[\w-]+|\d+(?:\.\d+){3}|<[\w-]+>|\{[\w-]+\})(?::\d+)?\/\S+)\s+[-–—:]\s/
const BEHIND = new RegExp(`[[(](${METHODS})\\s+${ADDRESS}[\\])]\\s*$`)

const URL_TEXT = `(https?://[^\\s"'\`\\\\]+|${BASE}?/[^\\s"'\`\\\\]*)`
const CURL = new RegExp(`\\bcurl\\b[\\s\\S]{0,400}?(https?://[^\\s"'\\\\]+|(?<=[\\s"'])${BASE}/[^\\s"'\\\\]*)`)
const CURL_METHOD = new RegExp(`(?:-X|--request)[\\s=]*["']?(${METHODS})\\b`)
const CURL_SENDS = /\s(?:-d|--data[\w-]*|--json|-F|--form)(?=[\s='"])/
const CURL_ASKS = /\s(?:-G|--get)\s/
const CLIENTS = 'requests|axios|http|httpx|client|session|api|got|ky|superagent|RestClient|HTTParty|Http'
const CLIENT = new RegExp(
  `\\b(?:${CLIENTS})(?:\\.|::|->)(get|post|put|patch|delete|head)\\(\\s*(?:[\\w.]{1,60}\\s*\\+\\s*)?[frb]?["'\`]${URL_TEXT}`,
  'i',
)
const FETCH = new RegExp(
  `\\bfetch\\(\\s*(?:[\\w.]{1,60}\\s*\\+\\s*)?["'\`]${URL_TEXT}["'\`](?:[\\s\\S]{0,200}?method\\s*:\\s*["'\`](\\w+))?`,
)
/** Start of a command or call in a code block; each start is one operation. */
const BEGINS = new RegExp(
  `(?=\\bcurl\\s)|(?=^\\W{0,3}(?:HTTP\\s+)?(?:${METHODS})\\s+["'\`]?(?:https?:|/))|(?=^.{0,200}\\b(?:(?:${CLIENTS})(?:\\.|::|->)(?:get|post|put|patch|delete|head)|fetch)\\()`,
  'm',
)
const MAX_PIECES = 100

/** Splits a code block into its calls. */
export function piecesOf(block: Block): Block[] {
  if (block.kind !== 'code') return [block]
  const pieces = block.text.split(BEGINS, MAX_PIECES).filter((text) => text.trim() !== '')
  return pieces.map((text) => ({ kind: 'code', text }))
}

/** A placeholder of several words, such as `/(id or name)`. */
const IN_WORDS = /\/\(([a-z]\w*(?: \w+){0,3})\)/gi

export function namesIn(block: Block): NamedOperation[] {
  if (block.kind === 'table') return [...block.rows.flatMap(namesInRow), ...markedIn(block.rows)]
  if (block.kind === 'code') return namesInCode(block.text)
  const text = block.text.replace(IN_WORDS, (_, words: string) => `/{${words.replaceAll(' ', '_')}}`)
  const behind = block.kind === 'heading' ? BEHIND.exec(text) : null
  const match = behind ?? WITH_METHOD.exec(text)
  if (!match) {
    const call = block.kind === 'item' ? CALL.exec(text)?.[1] : undefined
    if (call !== undefined)
      return [{ method: 'GET', url: plainUrl(call), confidence: sureness.bare, evidence: block.text }]
    return [...text.matchAll(IN_PROSE)].map((one) => named(one, sureness.prose, block.text))
  }
  // A heading or short line is about the operation; a sentence may only mention it.
  const isShort = block.kind === 'heading' || match[0].length * 2 >= text.length
  return [named(match, isShort ? sureness.stated : sureness.prose, block.text)]
}

const BARE = /^\/[\w{}<>:[\]/.?&=-]*\w[\]}>/]?.*$/

/**
 * Operations of a code block that has only paths, or of a heading that begins with one.
 * @param said text above, such as `POST method:` or `GET endpoints`
 */
export function bareIn(block: Block, said: string): NamedOperation[] {
  const method = methodOf(new RegExp(`^(?:${METHODS})\\b`).exec(said)?.[0] ?? 'GET')
  if (block.kind === 'heading') {
    const [url] = /^\/[\w{}<>:[\]/.-]{2,}(?<![:.])/.exec(block.text) ?? []
    const about = block.text.slice(url?.length ?? 0).replace(/^\W+/, '')
    return url === undefined ? [] : [{ method, url, confidence: sureness.client, evidence: block.text, about }]
  }
  if (block.kind !== 'code') return []
  const lines = block.text.split('\n').map((line) => line.trim())
  const paths = lines.filter((line) => line !== '')
  if (paths.length === 0 || !paths.every((line) => BARE.test(line) && !/\s/.test(line))) return []
  return paths.map((url) => ({ method, url, confidence: sureness.bare, evidence: url }))
}

const LABEL = new RegExp(
  `^\\W*(?:(?:http |request )?(?:method|verb)\\W{1,3}(?<method>${METHODS})\\b|(?:endpoint|path|url|uri|route)\\W{1,3}(?<url>(?:https?:/)?/[^\\s"'<>|,;)]+))`,
  'i',
)

/** A heading that has only an address, or only a method. */
const HEADED = new RegExp(`^(?:(?<method>${METHODS})|(?<url>/\\S+))\\W*$`)

/** Method and address that stand alone in headings or behind labels, such as `Method: PUT` and `Endpoint: /ducks`. */
function labelledIn(block: Block): { readonly method?: string; readonly url?: string } {
  if (block.kind === 'code') return {}
  if (block.kind === 'heading') return compact(HEADED.exec(block.text)?.groups ?? {})
  const lines = block.kind === 'table' ? block.rows.map((row) => row.join(': ')) : [block.text]
  return Object.assign({}, ...lines.map((line) => compact(LABEL.exec(line)?.groups ?? {})))
}

/** Puts together a method and an address that stand behind labels under one heading, or in headings one below the other. */
export function labelsInTurn(): (block: Block) => NamedOperation | undefined {
  let told: ReturnType<typeof labelledIn> = {}
  let above = { level: 0 }
  return (block) => {
    const own = labelledIn(block)
    const level = block.kind === 'heading' ? block.level : undefined
    if (level !== undefined && (own.url !== undefined || level <= above.level)) above = { ...own, level }
    told = { ...(level === undefined ? told : own.method && above), ...own }
    const { method, url } = told
    if (method === undefined || url === undefined) return undefined
    told = {}
    return { method: methodOf(method), url: plainUrl(url), confidence: sureness.stated, evidence: url }
  }
}

/** Defaults to GET. */
function methodOf(word: string): OperationMethod {
  const upper = word.toUpperCase()
  return methods.find((one) => one === upper) ?? 'GET'
}

function named(match: RegExpExecArray, confidence: number, evidence: string): NamedOperation {
  const [, method = 'GET', origin = '', path = '/'] = match
  return { method: methodOf(method), url: plainUrl(`${origin}${path}`), confidence, evidence }
}

function namesInRow(row: readonly string[]): NamedOperation[] {
  const text = row.join(' | ')
  const cells = row.map((cell) => ({ cell, first: WITH_METHOD.exec(cell) }))
  const whole = cells.find(({ first }) => first !== null)
  if (whole?.first) {
    const further = whole.cell.slice(whole.first[0].length).matchAll(FURTHER)
    const about = longestBeside(row, whole.cell)
    return [whole.first, ...further].map((match) => ({ ...named(match, sureness.stated, text), about }))
  }
  const words = row.map((cell) => cell.trim().toUpperCase())
  const method = methods.find((one) => words.includes(one))
  const path = row.map((cell) => cell.trim()).find((cell) => /^(https?:\/\/[^\s/]+)?\/[^\s]*$/.test(cell))
  const about = longestBeside(row, path)
  return method && path ? [{ method, url: path, confidence: sureness.stated, evidence: text, about }] : []
}

const MARK = /^(?:x|y|yes|true|[✓✔✅•●])$/i

/** Operations of a table with a column for each method, in which each row marks those of its paths. */
function markedIn([head = [], ...rows]: readonly (readonly string[])[]): NamedOperation[] {
  const columns = head.map((cell) => methods.find((one) => one === cell.trim().toUpperCase()))
  return rows.flatMap((row) => {
    const cell = row.find((one) => one.trim().startsWith('/')) ?? ''
    const marked = columns.filter((one, at) => one !== undefined && MARK.test(row[at]?.trim() ?? ''))
    const about = longestBeside(row, cell)
    const evidence = oneLine(row.join(' | '))
    return [...cell.matchAll(/(?<!\S)\/\S*/g)].flatMap(([url]) =>
      marked.map((method = 'GET') => ({ method, url, confidence: sureness.stated, evidence, about })),
    )
  })
}

function longestBeside(row: readonly string[], cell?: string): string {
  return row.filter((one) => one !== cell).reduce((longest, one) => (one.length > longest.length ? one : longest), '')
}

function namesInCode(text: string): NamedOperation[] {
  const stated = text.split('\n').flatMap((line) => {
    const match = WITH_METHOD.exec(line)
    return match ? [{ ...named(match, sureness.stated, line.trim()), isCall: /\bHTTP\/[\d.]+$/.test(line.trim()) }] : []
  })
  return [...stated, ...namedByCurl(text), ...namedByClient(text)]
}

function namedByCurl(text: string): NamedOperation[] {
  const url = CURL.exec(text)?.[1]
  if (url === undefined) return []
  const sends = CURL_SENDS.test(text) && !CURL_ASKS.test(text)
  const method = CURL_METHOD.exec(text)?.[1] ?? (sends ? 'POST' : 'GET')
  return [
    { method: methodOf(method), url: plainUrl(url), confidence: sureness.curl, evidence: oneLine(text), isCall: true },
  ]
}

function namedByClient(text: string): NamedOperation[] {
  const client = CLIENT.exec(text)
  const fetched = FETCH.exec(text)
  return [
    ...(client ? [snippet(client[1] ?? 'get', client[2] ?? '', text)] : []),
    ...(fetched ? [snippet(fetched[2] ?? 'get', fetched[1] ?? '', text)] : []),
  ]
}

function snippet(method: string, url: string, text: string): NamedOperation {
  return {
    method: methodOf(method),
    url: plainUrl(url),
    confidence: sureness.client,
    evidence: oneLine(text),
    isCall: true,
  }
}

const LEADING_BASE = new RegExp(`^${BASE}(?=/)`)

/** Normalises variables: `${base}/ducks/${duck.id}` becomes `/ducks/{id}`. */
function plainUrl(url: string): string {
  return url
    .replace(LEADING_BASE, '')
    .replace(/\$?\{{1,2}(?:\w+\.){0,5}(\w+)\}{1,2}/g, '{$1}')
    .replace(/\/\$(\w+)/g, (_, name: string) => `/{${name.toLowerCase()}}`)
}
