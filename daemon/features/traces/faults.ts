import type { ErrorDetail } from '../../../src/core/error.ts'
import type { TraceEvent } from '../../../src/model/trace.ts'
import { digestOf } from '../../kernel/canonical.ts'

type Rule = {
  readonly path: string
  readonly message: string
  readonly isBroken: (event: TraceEvent) => boolean
}

/** What the members of one attempt have to agree on (decisions §11). */
const rules: readonly Rule[] = [
  {
    path: 'event.decision.intent_hash',
    message: 'is not the keccak-256 of the RFC 8785 form of event.intent',
    isBroken: ({ decision, intent }) =>
      decision !== null && decision.intent_hash.toLowerCase() !== digestOf(intent).hash,
  },
  {
    path: 'event.outcome',
    message: 'must be denied or abandoned after a decision that denies',
    isBroken: ({ decision, outcome }) =>
      decision?.verdict === 'deny' && outcome !== 'denied' && outcome !== 'abandoned',
  },
  {
    path: 'event.outcome',
    message: 'cannot be denied after a decision that allows',
    isBroken: ({ decision, outcome }) => decision?.verdict === 'allow' && outcome === 'denied',
  },
  {
    path: 'event.payment',
    message: 'is needed with allowed_paid, and only then',
    isBroken: ({ outcome, payment }) => (outcome === 'allowed_paid') !== (payment !== undefined),
  },
  {
    path: 'event.payment.amount',
    message: 'is another than event.intent.amount',
    isBroken: ({ intent, payment }) => payment !== undefined && payment.amount !== intent.amount,
  },
  {
    path: 'event.payment.network',
    message: 'is another than event.intent.network',
    isBroken: ({ intent, payment }) => payment !== undefined && payment.network !== intent.network,
  },
  {
    path: 'event.payment.authorization_nonce',
    message: 'is another than event.intent.nonce',
    isBroken: ({ intent, payment }) =>
      payment?.authorization_nonce !== undefined &&
      payment.authorization_nonce.toLowerCase() !== intent.nonce.toLowerCase(),
  },
]

/** Where an event contradicts itself. */
export function traceFaults(event: TraceEvent): ErrorDetail[] {
  return rules.filter(({ isBroken }) => isBroken(event)).map(({ path, message }) => ({ path, message }))
}
