import type { SentBody } from '../../../client/asked.ts'
import { wordsOf } from '../../../client/call.ts'
import { askedBy } from '../../../client/pay.ts'
import { AppError } from '../../../core/error.ts'
import type { AnyObject } from '../../../core/json.ts'
import { formatAmount, parseAmount, type Usdc } from '../../../core/money.ts'
import { shellLine } from '../../../text/text.ts'
import { unjudged } from '../../files/document.ts'
import type { RawCall, Session } from '../../session.ts'
import type { Listing } from './services.ts'

const PAYMENT_REQUIRED = 402
/** Statuses that a diagnosis can explain, in the response to a purchase without payment. */
const LOOKED_AT = [400, PAYMENT_REQUIRED, 403, 404, 409, 410, 429, 503]
const OFFER_V2 = 'payment-required'
/** Default payment limits of existing x402 client packages, micro-USDC. */
const USUAL_LIMITS = [
  { client: 'x402-fetch', limit: 100_000n },
  { client: '@x402/fetch', limit: 1_000_000n },
] as const
const SHORT_CHARS = 20

export type ListingFinding = {
  readonly check:
    | 'status'
    | 'input'
    | 'example'
    | 'deliverable'
    | 'price'
    | 'endpoint'
    | 'x402 v1'
    | 'x402 v2'
    | 'buyer sees'
  readonly state: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly mend: string | null
}

type Look = ListingFinding | readonly ListingFinding[]

/** Checks a listing in the order in which a purchase uses its parts. With `isOwn`, also checks its endpoint. */
export async function diagnose(session: Session, listing: Listing, isOwn: boolean): Promise<readonly ListingFinding[]> {
  const { compileDeliverableSchema, compileInputSchema } = await import('../../../schema/schema.ts')
  const { exampleInput } = await import('../../../schema/example.ts')
  const input = compiled('input', listing, () => compileInputSchema(listing.input_schema))
  const example = input.state === 'ok' ? exampleInput(listing.input_schema) : undefined
  const looks: readonly Look[] = [
    statusOf(listing),
    input,
    exampleOf(listing, example),
    compiled('deliverable', listing, () => compileDeliverableSchema(listing.deliverable_schema)),
    priceOf(listing),
    await endpointOf(session, listing, isOwn),
    await offersOf(session, listing, example ?? {}),
    seenOf(listing),
  ]
  return looks.flat()
}

type Found = (check: ListingFinding['check'], found: string, mend?: string) => ListingFinding
const finds = (state: ListingFinding['state']): Found => {
  return (check, found, mend) => ({ check, state, found, mend: mend ?? null })
}
const fine = finds('ok')
const warn = finds('warn')
const fail = finds('fail')
const edit = ({ id }: Listing, setting: string) => shellLine`souk services edit ${id} --set ${setting}`

function statusOf(listing: Listing): ListingFinding {
  if (listing.status === 'active') return fine('status', 'offered')
  return fail('status', 'not offered: buyers cannot find it', edit(listing, 'status=active'))
}

function compiled(check: 'input' | 'deliverable', listing: Listing, compile: () => unknown): ListingFinding {
  try {
    compile()
    return fine(check, 'its schema is valid')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return fail(check, error.message, shellLine`souk services edit ${listing.id} --editor`)
  }
}

function exampleOf(listing: Listing, example: unknown): ListingFinding {
  if (example !== undefined) return fine('example', `${JSON.stringify(example)} is accepted`)
  const found = 'no example satisfies its input_schema: buyers cannot try it; add "examples" to its fields'
  return warn('example', found, shellLine`souk services edit ${listing.id} --editor`)
}

function priceOf(listing: Listing): ListingFinding {
  const { agent_price, price, provider_net_price: net, pricing_model } = listing
  const asked = amountIn(agent_price.fixed)
  if (asked === undefined) {
    if (pricing_model === 'quote_required') return fine('price', 'quoted in a conversation')
    return fail('price', 'it has none', edit(listing, 'price=0.50'))
  }
  const found = `buyers pay $${formatAmount(asked)}, of the price ${price.fixed} its provider gets ${net.fixed}`
  const refusing = USUAL_LIMITS.filter(({ limit }) => asked > limit).map(({ client }) => client)
  if (refusing.length === 0) return fine('price', found)
  const most = formatAmount(USUAL_LIMITS[refusing.length - 1]?.limit ?? asked)
  return warn('price', `${found}; ${refusing.join(' and ')} pay at most $${most} unless their users raise the limit`)
}

function amountIn(text: string | null): Usdc | undefined {
  return text === null ? undefined : parseAmount(text.replace('$', ''))
}

async function endpointOf(session: Session, listing: Listing, isOwn: boolean): Promise<ListingFinding> {
  const { id, fulfillment_type, webhook_status: status } = listing
  if (listing.first_party) return fine('endpoint', 'the marketplace runs it')
  if (status === 'polling') return fine('endpoint', 'its provider polls for jobs')
  const isInstant = fulfillment_type === 'instant'
  if (!isOwn) {
    if (status === 'healthy') return fine('endpoint', 'its provider responds')
    return finds(isInstant ? 'fail' : 'warn')('endpoint', `its provider: ${status}`)
  }
  const tried = await session.call('testService', { params: { id } })
  if (tried.delivered) return fine('endpoint', `it returned ${tried.status} in ${tried.latency_ms} ms`)
  const why = tried.error ?? `it returned ${tried.status}`
  const mend = isInstant ? edit(listing, 'webhook_url=URL') : shellLine`souk provide ${id} --exec COMMAND`
  return fail('endpoint', `its jobs cannot be delivered: ${why}`, mend)
}

async function offersOf(session: Session, listing: Listing, input: AnyObject): Promise<readonly ListingFinding[]> {
  const { id, agent_price, pricing_model } = listing
  if (pricing_model === 'quote_required') return []
  const { opens: _opens, ...words } = wordsOf('purchaseService', {
    params: { id },
    body: unjudged<SentBody<'purchaseService'>>(input),
  })
  const call: RawCall = { ...words, accept: LOOKED_AT }
  const { status, headers, body } = await session.send(call)
  const price = amountIn(agent_price.fixed)
  return (['x402 v1', 'x402 v2'] as const).map((check) => {
    const mend = shellLine`souk buy ${id} --quote`
    if (status !== PAYMENT_REQUIRED) return fail(check, `an unpaid purchase returns ${status} ${wordsIn(body)}`, mend)
    // v1 clients read the offer from the body, v2 clients from the header.
    const get = (name: string) => (check === 'x402 v2' ? (headers[name.toLowerCase()] ?? null) : null)
    const asked = askedBy({ status, headers: { get }, body: check === 'x402 v1' ? body : null })
    if (check === 'x402 v2' && get(OFFER_V2) === null)
      return fail(check, 'the response has no payment offer in its header', mend)
    if (!asked.ok) return fail(check, asked.message, mend)
    if (asked.price !== price) {
      const found = `the 402 asks $${formatAmount(asked.price)}, the listing says ${agent_price.fixed}`
      return fail(check, found, mend)
    }
    return fine(check, `$${formatAmount(asked.price)} on ${asked.network}, signed within ${asked.maxTimeoutSeconds} s`)
  })
}

function wordsIn(body: unknown): string {
  return typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : ''
}

function seenOf(listing: Listing): ListingFinding {
  const { name, description, category, estimated_delivery, fulfillment_type, input_schema } = listing
  const takes = Object.keys(typeof input_schema.properties === 'object' ? (input_schema.properties ?? {}) : {})
  const words = `"${name}" in ${category}, ${fulfillment_type}, ${estimated_delivery}; takes ${takes.join(', ') || 'anything'}`
  if (description.trim().length >= SHORT_CHARS) return fine('buyer sees', words)
  return warn('buyer sees', `${words}; its description is short`, edit(listing, 'description=…'))
}
