import type { StoredFile } from '../../src/core/codecs.ts'
import type { Usdc } from '../../src/core/money.ts'
import type { StoredBlob } from '../store/blobs.ts'

export type Receiving = {
  readonly maxFileBytes: number
  /** Called with the fields before any byte of the file is stored; throws to refuse the upload. */
  readonly accept: (fields: Readonly<Record<string, string>>) => Promise<void>
  /** Stores the file. `source` throws if the form is invalid. A chunk is only valid until the next one. */
  readonly keep: (source: AsyncIterable<Uint8Array>, limitBytes: number) => Promise<StoredBlob>
}

/** A visitor for the usage statistics, and whether it opted out. The address is never stored as plain text. */
export type Visitor = { readonly address: string; readonly declines: boolean }

/** What the request log records about a request; never a credential. */
export type RequestFacts = {
  /** Participant id, else wallet, or `admin`; null if anonymous. */
  caller: string | null
  /** Error code, or the reason why a payment was refused. */
  code: string | null
  /** Price quoted or paid. */
  price: Usdc | null
  /** Id of the request's payment. */
  payment: string | null
}

export function noFacts(): RequestFacts {
  return { caller: null, code: null, price: null, payment: null }
}

/**
 * One request as the pipeline sees it, without `req` and `res`. Costly members are functions, not accessors: V8 keeps
 * the class of an object literal with accessors, and all that it refers to, until the next full collection.
 */
export type Exchange = {
  readonly requestId: string
  /** Each step of the pipeline adds the facts that it learns. */
  readonly facts: RequestFacts
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** Path without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** @throws AppError invalid_request when a name is given twice. */
  readonly query: () => Readonly<Record<string, string>>
  readonly rawQuery: string
  readonly header: (name: string) => string | undefined
  /** Reads and parses the body once; undefined if there is none. @throws AppError 400, 408, 413, 415 */
  readonly body: () => Promise<unknown>
  /** The raw body, for handlers that verify a signature. Call `body` first. */
  readonly rawBody: () => Buffer
  /** Reads a form with one file. @throws AppError 400, 408, 413, 415 naming the part; then nothing is stored. */
  readonly upload: (receiving: Receiving) => Promise<StoredFile>
  /** Aborted when the client disconnects. */
  readonly signal: () => AbortSignal
  /** Resolves when the response ends: true if all of it was passed to the network. */
  readonly sent: () => Promise<boolean>
  /** Payment headers may be sent over TLS, from this machine, or if the operator allows plain HTTP. */
  readonly isConfidential: () => boolean
  readonly isForwarded: () => boolean
  readonly visitor: () => Visitor
}

export type ReplyHeaders = Record<string, string>

/** What the HTTP layer sends. To `events` it adds heartbeats, limits and abort; to `file` it adds ranges and ETags. */
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

/** A stored file to send; range ends are inclusive. */
export type FileOut = {
  readonly file: StoredFile
  /** A chunk is valid only until the next chunk is read. */
  readonly read: (range?: { readonly start: number; readonly end: number }) => AsyncIterable<Uint8Array>
}

export type EventOut = { readonly id: string; readonly event: string; readonly data: string }

export const JSON_TYPE = 'application/json; charset=utf-8'
export const EVENT_STREAM_TYPE = 'text/event-stream'
