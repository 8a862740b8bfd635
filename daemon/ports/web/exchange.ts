export type GetOptions = {
  readonly accept?: string
  readonly maxBytes?: number
  /** Whether to truncate a body at `maxBytes` instead of failing. */
  readonly truncate?: boolean
  /** Total time limit, including redirects and robots.txt. */
  readonly timeoutMs?: number
  /** For APIs only. Requests for pages must follow robots.txt (RFC 9309). */
  readonly ignoreRobots?: true
  readonly signal?: AbortSignal
}

export type PostRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** A POST if there is a body, else a GET. */
export type AskRequest = Omit<PostRequest, 'body'> & { readonly body?: string }

export type WebResponse = {
  /** Final URL after redirects. */
  readonly url: string
  readonly status: number
  /** Names in lower case. The values of a repeated header are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly truncated: boolean
  readonly redirects: readonly { readonly status: number; readonly to: string }[]
  /** Wall time when the response was complete, epoch milliseconds. */
  readonly at: number
}
