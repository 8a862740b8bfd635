import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { endpoints } from '../../client/endpoints.ts'
import type { Link, Outcome } from '../../client/link.ts'
import type { Facts } from '../../core/filter.ts'
import { microOf } from '../../text/columns.ts'
import { shortAddress } from '../../text/text.ts'
import type { Piece } from '../parts/line.ts'
import { ask } from '../shell/queries.ts'
import { text } from '../shell/read.ts'
import type { LogView } from '../shell/ui.ts'
import { type Answered, askedWord } from './words.ts'

const REQUESTS = 500
const BROKEN_FROM = 400
const WALLET = /^0x[0-9a-fA-F]{40}$/

/** A request as the marketplace remembers it: no header, no body. Texts are fit for a terminal. */
export type AskedFacts = Pick<Answered, 'id' | 'status' | 'ms'> & {
  readonly at: number
  /** What it did, sign and word. */
  readonly what: Piece
  readonly method: string
  readonly path: string
  /** As the contract has it, `/v1/jobs/:id`: an id is whole in the story, and nowhere in part. */
  readonly route: string
  readonly who: string
  readonly price: string
  readonly code: string
  /** That it made or was about; empty for none. */
  readonly jobId: string
  readonly receiptId: string
  /** The 402 that asked for what this one paid; empty for none. */
  readonly offerId: string
  readonly isOperator: boolean
  readonly raw: Answered
}

/** Newest first. */
export const fetchRequests =
  (link: Link) =>
  (signal: AbortSignal): Promise<Outcome<readonly AskedFacts[]>> => {
    const asked = { query: { limit: String(REQUESTS) }, signal }
    return ask(link, { name: 'listRequests', asked }, ({ requests }) => requests.map(readRequest).toReversed())
  }

const routes = new Map<string, string>(Object.entries(endpoints).map(([name, [, path]]) => [name, path]))

function readRequest(request: Answered): AskedFacts {
  const { id, at, method, path, endpoint, status, ms, caller, name, price, code } = request
  const who = text(name) || text(caller)
  return {
    id: text(id),
    at: Date.parse(at),
    what: askedWord(request),
    method: text(method),
    path: text(path),
    route: text(routes.get(endpoint ?? '') ?? path),
    status,
    ms,
    who: WALLET.test(who) ? shortAddress(who) : who,
    price: price === null ? '' : `$${price}`,
    code: text(code),
    jobId: text(request.job_id),
    receiptId: text(request.receipt_id),
    offerId: text(request.offer_id),
    isOperator: caller === 'admin' || path.startsWith('/dashboard/'),
    raw: request,
  }
}

/** Views of requests; the others list something else. */
export type AskedView = Exclude<LogView, 'webhooks' | 'crons' | 'everything'>

/** What belongs into each. */
export const isIn: Readonly<Record<AskedView, (asked: AskedFacts) => boolean>> = {
  requests: isMarket,
  paid: isPaid,
  refused: (asked) => isRefused(asked) && asked.code !== ASKED_ONLY,
  admin: (asked) => asked.isOperator && (asked.method !== 'GET' || isRefused(asked)),
}

/** A 402 that only said the price refused nobody. */
const ASKED_ONLY = 'payment_required'
const UNDONE: ReadonlySet<string> = new Set(['released', 'refunded', 'reversed'])

const isRefused = ({ status }: AskedFacts) => (status ?? 0) >= BROKEN_FROM

function isPaid(asked: AskedFacts): boolean {
  return asked.receiptId !== '' && !isRefused(asked) && !UNDONE.has(asked.code)
}

/** What the operator, and this cockpit itself, looks at is not what anybody comes to see here. */
function isMarket(asked: AskedFacts): boolean {
  const isLook = asked.method === 'GET' && (asked.path.startsWith('/dashboard/') || asked.path === '/health')
  return !isLook || isRefused(asked)
}

/** A 402 and the try that paid it are one row: the try, whose story begins with the 402. */
export function joined(rows: readonly AskedFacts[]): readonly AskedFacts[] {
  const paid = new Set(rows.map(({ offerId }) => offerId))
  return rows.filter(({ id }) => !paid.has(id))
}

export const askedFields = {
  what: { kind: 'text' },
  method: { kind: 'text' },
  path: { kind: 'text' },
  status: { kind: 'text' },
  ms: { kind: 'count' },
  who: { kind: 'text' },
  price: { kind: 'money' },
  code: { kind: 'text' },
  request: { kind: 'text' },
  age: { kind: 'age' },
} as const

export function askedOf(asked: AskedFacts): Facts<typeof askedFields> {
  const { id, what, method, path, status, ms, who, price, code, at } = asked
  return {
    what: typeof what === 'string' ? what : what.text,
    method,
    path,
    status: status === null ? null : String(status),
    ms: ms === null ? null : BigInt(ms),
    who,
    price: microOf(price) ?? null,
    code,
    request: id,
    age: at,
  }
}

/** Requests of which the steps are counted at once: each is told for it, so only those in sight are asked about. */
export const COUNTED_MAX = 50

export type StepCounts = ReadonlyMap<string, number>

/** How many steps the stories of some requests have. @param ids - with commas between them */
export const fetchSteps =
  (link: Link, ids: string) =>
  async (signal: AbortSignal): Promise<Outcome<StepCounts>> => {
    if (ids === '') return { ok: true, value: new Map() }
    const asked = { query: { request: ids, limit: String(COUNTED_MAX) }, signal }
    return ask(link, { name: 'listRequests', asked }, ({ requests }: WireAnswer<Api['listRequests']>) => {
      return new Map(requests.flatMap(({ id, steps }) => (steps === null ? [] : [[text(id), steps] as const])))
    })
  }
