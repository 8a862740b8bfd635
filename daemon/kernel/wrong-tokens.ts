import type { PaymentFault } from '../../src/core/payment-fault.ts'
import { DAY_MS } from '../../src/core/time.ts'
import type { Log } from '../ports/log.ts'
import { defineResource } from './resource.ts'

/** Kinds kept since the start; later ones are dropped. */
const KINDS_MAX = 20
const SHOWN_CHARS_MAX = 66

/** A token that a server asked to settle here and that is not this chain's. */
export type WrongToken = {
  readonly seller: string
  readonly fault: PaymentFault
  /** As the server named it. */
  readonly network: string
  readonly asset: string
  readonly count: number
  /** Last time, epoch milliseconds of the machine. */
  readonly at: number
}

export type WrongTokens = {
  add(found: Omit<WrongToken, 'count'>): void
  all(): readonly WrongToken[]
  /** Those of the last day. */
  recent(wall: number): readonly WrongToken[]
}

export const wrongTokens = defineResource<WrongTokens>('wrong tokens')

/** Logs each kind once: a misconfigured server asks again for every buyer. */
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
