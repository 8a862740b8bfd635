/** One request as the edge hands it to the pipeline: no `req`, no `res`. */
export type Exchange = {
  readonly requestId: string
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
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
  /** Whether payment headers may be trusted to this connection: TLS, or a loopback peer. */
  readonly confidential: boolean
}

export type ReplyHeaders = Record<string, string>

/** What the edge writes. `events` streams: the edge adds heartbeat, bounds and abort. */
export type ReplyOut =
  | { readonly kind: 'bytes'; readonly status: number; readonly headers: ReplyHeaders; readonly body: Buffer | string }
  | {
      readonly kind: 'events'
      readonly status: 200
      readonly headers: ReplyHeaders
      readonly events: AsyncIterable<EventOut>
    }

export type EventOut = { readonly id: string; readonly event: string; readonly data: string }

export const JSON_TYPE = 'application/json; charset=utf-8'
