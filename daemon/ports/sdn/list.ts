import { setTimeout as rest } from 'node:timers/promises'
import { type SaxesOptions, SaxesParser } from 'saxes'
import { isAddress, toWallet, type Wallet } from '../../../src/core/hex.ts'

/** What is read of a sanctions list in the form SDN.XML. */
export type SdnList = {
  /** ISO date; null when it has none that can be read. */
  readonly publishDate: string | null
  /** How many entries it says it holds; null when it does not say. */
  readonly recordCount: number | null
  /** How many it does hold. */
  readonly entries: number
  /** EVM addresses of all entries, lower-case. */
  readonly wallets: ReadonlySet<Wallet>
}

/** It is no list, or not a whole one. */
export class SdnUnreadable extends Error {
  override readonly name = 'SdnUnreadable'
}

const ROOT = 'sdnList'
/** Of the type of an id; a ticker follows, which says nothing about the shape: one address stands under several. */
const ADDRESS_TYPE = 'Digital Currency Address -'
/** Fields whose text is wanted, with the element that they stand in. */
const wanted: Readonly<Record<string, string>> = {
  Publish_Date: 'publshInformation', // sic
  Record_Count: 'publshInformation',
  idType: 'id',
  idNumber: 'id',
}
const US_DATE = /^(\d{2})\/(\d{2})\/(\d{4})$/
const COUNT = /^\d{1,9}$/

/** Bytes between which others get their turn: about a millisecond of parsing. */
const SLICE_BYTES = 32 * 1024
/** A pause after each: a process that never rests is the last to be woken on a busy machine. */
const REST_MS = 1
const MAX_BYTES = 512 * 1024 * 1024
/** Of text, comment or attributes without an end: what the parser would have to keep. */
const MAX_PIECE_BYTES = 1024 * 1024
const MAX_FIELD_CHARS = 1_000
const MAX_DEPTH = 32
const MAX_SHOWN_CHARS = 40
const MAX_WALLETS = 50_000

/**
 * Reads a list as it comes, in slices between which the event loop turns. Names are taken without their prefix and
 * namespace, which have changed before.
 * @throws SdnUnreadable saying why it is no whole list.
 */
export async function readSdn(source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<SdnList> {
  const reading = createReading()
  const parser = new SaxesParser<SaxesOptions>({ xmlns: false, position: false })
  parser.on('opentag', ({ name }) => reading.open(localName(name)))
  parser.on('closetag', ({ name }) => reading.close(localName(name)))
  parser.on('text', reading.text)
  parser.on('cdata', reading.text)
  parser.on('doctype', () => {
    throw new SdnUnreadable('it begins with a document type, as web pages do')
  })
  let sinceRest = 0
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const slice of slices(source, signal)) {
      parser.write(decoder.decode(slice, { stream: true }))
      reading.passed(slice.length)
      sinceRest += slice.length
      if (sinceRest < SLICE_BYTES) continue
      sinceRest = 0
      await rest(REST_MS)
    }
    parser.write(decoder.decode())
    parser.close()
  } catch (error) {
    throw unreadable(error)
  }
  return reading.list()
}

async function* slices(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let total = 0
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      signal.throwIfAborted()
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      total += slice.length
      if (total > MAX_BYTES) throw new SdnUnreadable(`it is larger than ${MAX_BYTES} bytes`)
      yield slice
    }
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** What is no fault of the list (a stop, a disk that fails) stays what it is. */
function unreadable(error: unknown): unknown {
  if (error instanceof SdnUnreadable) return error
  if (error instanceof TypeError) return new SdnUnreadable('it is not UTF-8', { cause: error })
  const isParsers = error instanceof Error && error.name === 'Error' && !('code' in error)
  return isParsers ? new SdnUnreadable(`it is not whole XML: ${error.message}`, { cause: error }) : error
}

type Reading = {
  readonly open: (name: string) => void
  readonly close: (name: string) => void
  readonly text: (text: string) => void
  /** Bytes that were parsed since. */
  readonly passed: (bytes: number) => void
  readonly list: () => SdnList
}

function createReading(): Reading {
  const path: string[] = []
  const wallets = new Set<Wallet>()
  /** Text of the fields of the element that is open. */
  let fields: Record<string, string> = {}
  let field: string | undefined
  let head: Record<string, string> = {}
  let entries = 0
  let sinceTag = 0

  return {
    open(name) {
      sinceTag = 0
      const parent = path.at(-1)
      path.push(name)
      refuseShape(path)
      if (parent === ROOT && name === 'sdnEntry') entries += 1
      if (name === 'id' || name === 'publshInformation') fields = {}
      field = wanted[name] === parent ? name : undefined
      if (field !== undefined) fields[field] = ''
    },
    close(name) {
      sinceTag = 0
      path.pop()
      field = undefined
      if (name === 'publshInformation' && path.length === 1) head = fields
      if (name === 'id' && path.includes('sdnEntry')) addAddress(wallets, fields)
    },
    text(text) {
      if (field === undefined) return
      const whole = (fields[field] ?? '') + text
      if (whole.length > MAX_FIELD_CHARS) throw new SdnUnreadable(`its ${field} is longer than ${MAX_FIELD_CHARS}`)
      fields[field] = whole
    },
    passed(bytes) {
      sinceTag += bytes
      if (sinceTag > MAX_PIECE_BYTES) throw new SdnUnreadable(`it has ${MAX_PIECE_BYTES} bytes without a tag`)
    },
    list: () => ({
      publishDate: dateOf(head.Publish_Date),
      recordCount: countOf(head.Record_Count),
      entries,
      wallets,
    }),
  }
}

function refuseShape(path: readonly string[]): void {
  const [root = ''] = path
  if (root !== ROOT) throw new SdnUnreadable(`its root is ${root.slice(0, MAX_SHOWN_CHARS)}, not ${ROOT}`)
  if (path.length > MAX_DEPTH) throw new SdnUnreadable(`it is nested deeper than ${MAX_DEPTH} elements`)
}

function addAddress(wallets: Set<Wallet>, { idType = '', idNumber = '' }: Record<string, string>): void {
  const number = idNumber.trim()
  if (!idType.trim().startsWith(ADDRESS_TYPE) || !isAddress(number)) return
  wallets.add(toWallet(number))
  if (wallets.size > MAX_WALLETS) throw new SdnUnreadable(`it holds more than ${MAX_WALLETS} addresses`)
}

/** MM/DD/YYYY as an ISO date, null when there is no such day. */
function dateOf(text: string | undefined): string | null {
  const [, month, day, year] = US_DATE.exec(text?.trim() ?? '') ?? []
  const iso = `${year}-${month}-${day}`
  const at = Date.parse(`${iso}T00:00:00.000Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(iso) ? iso : null
}

function countOf(text: string | undefined): number | null {
  const count = text?.trim() ?? ''
  return COUNT.test(count) ? Number(count) : null
}
