import type { PaymentFault } from '../../src/core/payment-fault.ts'
import { DAY_MS } from '../../src/core/time.ts'
import type { Log } from '../ports/log.ts'
import { defineResource } from './context.ts'

/** Maximum number of different wrong tokens to remember. Further ones are dropped. */
const KINDS_MAX = 20
const SHOWN_CHARS_MAX = 66

/** A token of another chain or contract that a server asked to settle here. */
export type WrongToken = {
  readonly seller: string
  readonly fault: PaymentFault
  /** Network, as the server named it. */
  readonly network: string
  readonly asset: string
  readonly count: number
  /** Machine time of the newest request, epoch milliseconds. */
  readonly at: number
}

export type WrongTokens = {
  add(found: Omit<WrongToken, 'count'>): void
  all(): readonly WrongToken[]
  /** Wrong tokens that requests used in the 24 hours before `wall`. */
  recent(wall: number): readonly WrongToken[]
}

export const wrongTokens = defineResource<WrongTokens>('wrong tokens')

/** Collects wrong tokens. Logs each once, because a misconfigured server repeats its request for every buyer. */
export function collectWrongTokens(log: Log): WrongTokens {
  const found = new Map<string, WrongToken>()
  return {
    add({ network: named, asset, seller, fault, at }) {
      const network = named.slice(0, SHOWN_CHARS_MAX)
      const key = `${seller} ${network} ${asset}`
      const known = found.get(key)
      if (!known && found.size >= KINDS_MAX) return
      if (!known) {
        const facts = { source: 'facilitator', seller, network, asset, fault }
        log.warn(facts, 'a server requested settlement of another token: see souk facilitator')
      }
      found.set(key, { seller, fault, network, asset, count: (known?.count ?? 0) + 1, at })
    },
    all: () => [...found.values()],
    recent: (wall) => [...found.values()].filter(({ at }) => wall - at < DAY_MS),
  }
}
