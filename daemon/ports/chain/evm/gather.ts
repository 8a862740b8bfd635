import { RpcUnavailableError } from './rpc/unavailable.ts'

/** What comes within this while something is asked goes together. */
const GATHER_MS = 2

/**
 * Questions that come together are asked as one; each gets its own answer, in order. Somebody alone does not wait for
 * others.
 */
export function gather<Q, A>(askAll: (questions: readonly Q[]) => Promise<readonly A[]>): (question: Q) => Promise<A> {
  let waiting: { question: Q; settled: PromiseWithResolvers<A> }[] = []
  let asking = 0
  async function send(): Promise<void> {
    const batch = waiting
    waiting = []
    asking += 1
    try {
      const answers = await askAll(batch.map(({ question }) => question))
      for (const [at, { settled }] of batch.entries()) {
        const answer = answers[at]
        if (answer === undefined) settled.reject(new RpcUnavailableError('a call was left without an answer'))
        else settled.resolve(answer)
      }
    } catch (error) {
      for (const { settled } of batch) settled.reject(error)
    } finally {
      asking -= 1
    }
  }
  return (question) => {
    if (waiting.length === 0) {
      if (asking === 0) setImmediate(() => void send())
      else setTimeout(() => void send(), GATHER_MS)
    }
    const settled = Promise.withResolvers<A>()
    waiting.push({ question, settled })
    return settled.promise
  }
}
