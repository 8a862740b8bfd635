export type GetOptions = {
  readonly accept?: string
  readonly maxBytes?: number
  /** Keep the first `maxBytes` of a longer body instead of failing. */
  readonly truncate?: boolean
  /** For the whole exchange, redirects and robots.txt included. */
  readonly timeoutMs?: number
  /** Only for interfaces made for programs: pages are asked for as their site allows (RFC 9309). */
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

/** A POST where there is a body, else a GET. */
export type AskRequest = Omit<PostRequest, 'body'> & { readonly body?: string }

export type WebResponse = {
  /** Where the answer came from, after redirects. */
  readonly url: string
  readonly status: number
  /** Lower-case names; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly truncated: boolean
  readonly redirects: readonly { readonly status: number; readonly to: string }[]
  /** Wall time at which the whole answer was here, epoch milliseconds. */
  readonly at: number
}
