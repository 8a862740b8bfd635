import type { Usdc } from '../../src/core/money.ts'
import type { StoredFile } from '../../src/model/service.ts'
import type { StoredBlob } from '../store/blobs.ts'

/** How a form with a file is taken in. */
export type Receiving = {
  readonly maxFileBytes: number
  /** Called with the fields before any byte of the file is kept; throws to refuse it. */
  readonly accept: (fields: Readonly<Record<string, string>>) => Promise<void>
  /** Ends with the whole form: a fault anywhere in it is a throw of the source. A chunk is gone when the next is asked for. */
  readonly keep: (source: AsyncIterable<Uint8Array>, limitBytes: number) => Promise<StoredBlob>
}

/** Who is counted in statistics, and whether it asked not to be. The address is never kept as it is. */
export type Visitor = { readonly address: string; readonly declines: boolean }

/** What is found out about a request on its way, for the operator's log of requests: never a credential. */
export type RequestFacts = {
  /** Id of the participant, its wallet where it has none, or `admin`; null: nobody said who it is. */
  caller: string | null
  /** Error code, or why a payment was refused. */
  code: string | null
  /** What it was asked to pay, or paid. */
  price: Usdc | null
  /** Id of its payment. */
  payment: string | null
}

export function noFacts(): RequestFacts {
  return { caller: null, code: null, price: null, payment: null }
}

/**
 * One request as the edge hands it to the pipeline: no `req`, no `res`. What is costly is a function, never an accessor:
 * V8 keeps the class of an object literal with accessors, and all that it sees, until the next full collection.
 */
export type Exchange = {
  readonly requestId: string
  /** Filled in by the steps that find them out. */
  readonly facts: RequestFacts
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** Path as sent, without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** @throws AppError invalid_request when a name is given twice. */
  readonly query: () => Readonly<Record<string, string>>
  readonly rawQuery: string
  readonly header: (name: string) => string | undefined
  /** Reads and parses the body once; undefined when there is none. @throws AppError 400, 413, 415 */
  readonly body: () => Promise<unknown>
  /** The body as it came, after `body`; kept for endpoints whose handlers verify a signature. */
  readonly rawBody: () => Buffer
  /** Reads a form with one file. @throws AppError 400, 413, 415 that names the part at fault; nothing is kept then. */
  readonly upload: (receiving: Receiving) => Promise<StoredFile>
  /** Aborted when the client goes away. */
  readonly signal: () => AbortSignal
  /** Resolves when the answer is over: whether all of it was handed to the network. */
  readonly sent: () => Promise<boolean>
  /** Whether payment headers may be trusted to the way that the request came. */
  readonly isConfidential: () => boolean
  /** Whether a proxy passed it on. */
  readonly isForwarded: () => boolean
  readonly visitor: () => Visitor
}

export type ReplyHeaders = Record<string, string>

/** What the edge writes. `events` streams: the edge adds heartbeat, bounds and abort; `file` ranges and validators. */
export type ReplyOut =
  | { readonly kind: 'bytes'; readonly status: number; readonly headers: ReplyHeaders; readonly body: Buffer | string }
  | {
      readonly kind: 'events'
      readonly status: 200
      readonly headers: ReplyHeaders
      readonly events: AsyncIterable<EventOut>
    }
  | ({ readonly kind: 'file' } & FileOut)
  | {
      readonly kind: 'stream'
      readonly headers: ReplyHeaders
      readonly chunks: () => AsyncIterable<string | Uint8Array>
    }

/** A stored file on its way out; ends of a range are inclusive. */
export type FileOut = {
  readonly file: StoredFile
  /** A chunk is good until the next one is asked for. */
  readonly read: (range?: { readonly start: number; readonly end: number }) => AsyncIterable<Uint8Array>
}

export type EventOut = { readonly id: string; readonly event: string; readonly data: string }

export const JSON_TYPE = 'application/json; charset=utf-8'
export const EVENT_STREAM_TYPE = 'text/event-stream'
