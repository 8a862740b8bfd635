import { setTimeout as rest } from 'node:timers/promises'
import { type SaxesOptions, SaxesParser } from 'saxes'
import { isAddress, toWallet, type Wallet } from '../../../src/core/hex.ts'

/** Contents of a sanctions list in SDN.XML form. */
export type SdnList = {
  /** ISO date; null if missing or invalid. */
  readonly publishDate: string | null
  /** Declared number of entries; null if missing. */
  readonly recordCount: number | null
  readonly entries: number
  /** EVM addresses, lower case. */
  readonly wallets: ReadonlySet<Wallet>
}

/** The source is not a complete, valid list. */
export class SdnUnreadable extends Error {
  override readonly name = 'SdnUnreadable'
}

const ROOT = 'sdnList'
/** Start of the id type that marks an address. The ticker after it is ignored, as one address may have several. */
const ADDRESS_TYPE = 'Digital Currency Address -'
/** Elements whose text is read, each with its parent element. */
const wanted: Readonly<Record<string, string>> = {
  Publish_Date: 'publshInformation', // sic
  Record_Count: 'publshInformation',
  idType: 'id',
  idNumber: 'id',
}
const US_DATE = /^(\d{2})\/(\d{2})\/(\d{4})$/
const COUNT = /^\d{1,9}$/

/** Bytes per slice: about a millisecond of parsing. */
const SLICE_BYTES = 32 * 1024
/** Pause between slices, so that other work runs on a busy machine. */
const REST_MS = 1
const MAX_BYTES = 512 * 1024 * 1024
/** Limit of bytes between two tags, because the parser buffers text, comments and attributes. */
const MAX_PIECE_BYTES = 1024 * 1024
const MAX_FIELD_CHARS = 1_000
const MAX_DEPTH = 32
const MAX_SHOWN_CHARS = 40
const MAX_WALLETS = 50_000

/**
 * Parses a list as a stream, yielding between slices. Ignores XML prefixes and namespaces, which have changed before.
 * @throws SdnUnreadable with the reason
 */
export async function readSdn(source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<SdnList> {
  const reading = createReading()
  const parser = new SaxesParser<SaxesOptions>({ xmlns: false, position: false })
  parser.on('opentag', ({ name }) => reading.open(localName(name)))
  parser.on('closetag', ({ name }) => reading.close(localName(name)))
  parser.on('text', reading.text)
  parser.on('cdata', reading.text)
  parser.on('doctype', () => {
    throw new SdnUnreadable('it begins with a doctype, like a web page')
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

/** Converts errors in the list to `SdnUnreadable`, but not aborts and disk errors. */
function unreadable(error: unknown): unknown {
  if (error instanceof SdnUnreadable) return error
  if (error instanceof TypeError) return new SdnUnreadable('it is not UTF-8', { cause: error })
  const isParsers = error instanceof Error && error.name === 'Error' && !('code' in error)
  return isParsers ? new SdnUnreadable(`it is not well-formed XML: ${error.message}`, { cause: error }) : error
}

function createReading() {
  const path: string[] = []
  const wallets = new Set<Wallet>()
  /** Field texts of the open element. */
  let fields: Record<string, string> = {}
  let field: string | undefined
  let head: Record<string, string> = {}
  let entries = 0
  let sinceTag = 0

  return {
    open(name: string): void {
      sinceTag = 0
      const parent = path.at(-1)
      path.push(name)
      refuseShape(path)
      if (parent === ROOT && name === 'sdnEntry') entries += 1
      if (name === 'id' || name === 'publshInformation') fields = {}
      field = wanted[name] === parent ? name : undefined
      if (field !== undefined) fields[field] = ''
    },
    close(name: string): void {
      sinceTag = 0
      path.pop()
      field = undefined
      if (name === 'publshInformation' && path.length === 1) head = fields
      if (name === 'id' && path.includes('sdnEntry')) addAddress(wallets, fields)
    },
    text(text: string): void {
      if (field === undefined) return
      const whole = (fields[field] ?? '') + text
      if (whole.length > MAX_FIELD_CHARS) throw new SdnUnreadable(`its ${field} is longer than ${MAX_FIELD_CHARS}`)
      fields[field] = whole
    },
    /** Counts parsed bytes since the last tag. */
    passed(bytes: number): void {
      sinceTag += bytes
      if (sinceTag > MAX_PIECE_BYTES)
        throw new SdnUnreadable(`it has more than ${MAX_PIECE_BYTES} bytes between two XML tags`)
    },
    list: (): SdnList => ({
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
  if (wallets.size > MAX_WALLETS) throw new SdnUnreadable(`it has more than ${MAX_WALLETS} addresses`)
}

/** MM/DD/YYYY as ISO date; null if invalid. */
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
