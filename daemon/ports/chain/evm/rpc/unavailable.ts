/** No node gave an answer that can be relied on; nothing is known by it. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError'
}

/** What went wrong on the way, for counting. */
export type RpcFault = 'timeout' | 'cut' | 'status' | 'malformed' | 'too_large' | 'behind'

/** One request to one node failed. */
export class EndpointFailed extends Error {
  override readonly name = 'EndpointFailed'
  readonly kind: RpcFault
  constructor(kind: RpcFault, message: string) {
    super(message)
    this.kind = kind
  }
}
