import type { WireAnswer } from '../../src/api/index.ts'
import type { Asked, Callable } from '../../src/client/asked.ts'

/* Every call by the contract. Packed, the types of this file are written from the description instead (`calls.d.ts`). */

/** Name of an endpoint that answers JSON, its `operationId` in the description. */
export type CallName = Callable
/** What is asked of it: `params` of the path, `query`, `body`, `file`, `headers`. */
export type AskedOf<K extends CallName> = Asked<K>
export type AnswerOf<K extends CallName> = WireAnswer<K>
