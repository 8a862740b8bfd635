import type { WireAnswer } from '../../src/api/index.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { unjudged } from '../../src/cli/files/document.ts'
import { tryFolder } from '../../src/cli/files/transfer.ts'
import { type SavedFile, saveResult, shownResult } from '../../src/cli/nouns/jobs/deliverable.ts'
import { type FetchedJob, noFreeRead, waitForJob } from '../../src/cli/nouns/jobs/jobs.ts'
import { inputOptions, readInput } from '../../src/cli/nouns/services/input.ts'
import { checkInput } from '../../src/cli/nouns/services/input-check.ts'
import { askedInput } from '../../src/cli/nouns/services/input-form.ts'
import { findListing, type Listing } from '../../src/cli/nouns/services/services.ts'
import * as z from '../../src/cli/params.ts'
import { DryRun, type Session } from '../../src/cli/session.ts'
import { type Offer, pay, quote } from '../../src/cli/wallet/paying.ts'
import { agreedTo } from '../../src/cli/wallet/signing-in.ts'
import type { Asked, SentBody } from '../../src/client/asked.ts'
import { wordsOf } from '../../src/client/call.ts'
import { toWallet } from '../../src/core/hex.ts'
import { formatAmount, formatPrice } from '../../src/core/money.ts'
import { bold, byteSize, cyan, green, yellow } from '../../src/text/text.ts'

/** How many of the newest subscriptions are searched for one that covers the listing. */
const SUBSCRIPTIONS_MAX = 100

const options = z.object({
  ...inputOptions,
  save: z.text({ description: 'save the deliverable into a folder', value: 'dir' }),
  quote: z.flag({ description: 'show the price and exit; pays nothing' }),
  interactive: z.flag({ description: 'ask for each input, then confirm the price' }),
})
type Input = Readonly<Record<string, unknown>>
type Context = CommandContext<{ service: string }, z.output<typeof options>>

export const command = defineCommand({
  name: 'services buy',
  summary: 'buy a service: show the price, sign, get the result',
  pays: 'purchaseService',
  aliases: ['buy'],
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options,
  examples: [
    'souk buy qr_code -i data=hello --quote',
    'souk buy qr_code -i data=hello',
    'souk services buy qr_code -i data=hello -i format=svg --json',
  ],
  async run(context) {
    const session = await context.session()
    const listing = await findListing(session, context.args.service)
    const given = await readInput(context.io, listing.input_schema, context.options)
    const read = context.options.interactive ? await askedInput(context.io, listing, given) : given
    const { input } = read
    if (context.options.quote) return showQuote(session, listing, input)
    await checkInput(listing, read)
    const title = `${listing.name}   ${listing.id}   by ${listing.provider_id}`
    const what = { ...wordsOf('purchaseService', purchase(listing, input)), title, input }
    const host = context.options.interactive ? await agreedTo(context, session, what) : context
    return buy(host, session, { listing, input })
  },
  view(data, io) {
    if (data.kind === 'quote') {
      io.line(`402  ${bold(data.service_name)} costs ${bold(data.price)}   ${data.service_id}`)
      if (data.covered_by !== null) io.line(`  pay nothing      subscription ${data.covered_by} pays for it`)
      io.line(`  pay by x402      exact, ${data.money}, to ${data.pay_to}, valid ${data.valid_seconds} s`)
      if (data.wallet !== null) io.line(`  pay from         wallet ${data.wallet}`)
      io.line('  nothing was paid')
      io.note(`  next: ${cyan(io.hint('… without --quote'))}`)
      return
    }
    const { payment, status } = data
    io.line(`${green('✓')} ${paidWords(data)}   receipt ${payment.receipt_id}`)
    const sign = status === 'completed' ? green('✓') : yellow('●')
    io.line(`${sign} ${data.job_id} ${status} in ${(data.took_ms / 1_000).toFixed(1)} s   ${data.service_name}`)
    for (const { file, bytes } of data.files) io.line(`  saved     ${io.path(file)}   ${byteSize(bytes)}`)
    if (data.files.length === 0 && isThere(data.result)) io.line(shownResult(data.result))
    const next = [...(status === 'dispatched' ? ['watch'] : []), 'view'].map(
      (verb) => `souk jobs ${verb} ${data.job_id}`,
    )
    // While the job runs, also on stderr of a pipe.
    io[status === 'dispatched' ? 'say' : 'note'](`  next: ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})

async function showQuote(session: Session, listing: Listing, input: Input) {
  const offer = await quote(session, wordsOf('purchaseService', purchase(listing, input)))
  const wallet = await session.wallet()
  const covered_by = await coverOf(session, listing)
  const money = await moneyOf(session, offer)
  return { kind: 'quote' as const, ...described(listing, offer), money, wallet: wallet?.name ?? null, covered_by }
}

/** Token and network of the offer as text; null without an offer. Any token but real USDC is called `test USDC`. */
async function moneyOf({ target }: Session, offer: Offer | undefined): Promise<string | null> {
  if (offer === undefined) return null
  const { isRealUsdc } = await import('../../src/client/pay.ts')
  return isRealUsdc(toWallet(offer.asset)) ? `USDC on ${offer.network}` : `test USDC (${target.network})`
}

/** Id of the caller's subscription that covers the listing; null without one. */
async function coverOf(session: Session, { id, provider_id }: Listing): Promise<string | null> {
  const key = await session.apiKey()
  if (key === undefined) return null
  const { subscriptions } = await session.call('listSubscriptions', {
    query: { role: 'buyer', limit: String(SUBSCRIPTIONS_MAX) },
    headers: { 'x-api-key': key },
  })
  const found = subscriptions.find(
    (row) => row.has_access && row.provider_id === provider_id && row.service_ids.includes(id),
  )
  return found?.subscription_id ?? null
}

/** The result of a purchase; null if there is none yet, for example while the job runs. */
function resultOf({ status, result, deliverables }: Ticket) {
  const first = isThere(result) ? result : deliverables
  return isThere(first) || status === 'completed' ? (first ?? null) : null
}

function isThere(result: unknown): boolean {
  return result !== undefined && result !== null && !(Array.isArray(result) && result.length === 0)
}

function paidWords({ payment, subscription_id }: Awaited<ReturnType<typeof buy>>): string {
  const paid = `paid ${bold(`$${payment.amount}`)}`
  if (payment.method === 'balance') return `${paid} from balance`
  if (payment.method === 'x402') return `${paid} by x402`
  return subscription_id === null ? 'paid before; nothing was charged again' : `${paid} under ${subscription_id}`
}

function described(listing: Listing, offer: Offer | undefined) {
  return {
    service_id: listing.id,
    service_name: listing.name,
    price: offer === undefined ? '$0.00' : formatPrice(offer.price),
    network: offer?.network ?? null,
    asset: offer?.asset ?? null,
    pay_to: offer?.payTo ?? null,
    valid_seconds: offer?.validSeconds ?? null,
  }
}

function purchase({ id }: Listing, input: Input): Asked<'purchaseService'> {
  return { params: { id }, body: unjudged<SentBody<'purchaseService'>>(input) }
}

type Order = { readonly listing: Listing; readonly input: Input }

async function buy(context: Context, session: Session, { listing, input }: Order) {
  const { globals, io, options: given } = context
  const startedAt = io.now()
  const idempotencyKey = globals.idempotencyKey ?? crypto.randomUUID()
  if (given.save !== undefined) tryFolder(context, given.save)
  // A purchase covered by a subscription needs only the API key, no payment.
  const key = await session.apiKey()
  const asked = { ...purchase(listing, input), ...(key ? { headers: { 'x-api-key': key } } : {}) }
  const purchased = {
    endpoint: 'purchaseService',
    asked,
    idempotencyKey,
    costs: costsOf(listing),
    stated: ({ amount }: Ticket) => amount,
  } as const
  using _progress = io.progress(`buying ${listing.name}`)
  const { answer, payment } = await pay(context, session, purchased).catch((error) => {
    throw error instanceof DryRun ? new DryRun({ ...error.held, price: listing.agent_price.fixed }) : error
  })
  const bought = await settle(context, session, answer)
  const result = resultOf(bought)
  const { method, amount, payer, transaction } = payment
  const files: readonly SavedFile[] =
    given.save === undefined || !isThere(result) ? [] : saveResult(given.save, bought.job_id, result)
  return {
    kind: 'purchase' as const,
    job_id: bought.job_id,
    status: bought.status,
    service_id: listing.id,
    service_name: listing.name,
    subscription_id: bought.subscription_id ?? null,
    payment: { method, amount: formatAmount(amount), asset: 'USDC', payer, transaction, receipt_id: bought.receipt_id },
    result,
    files,
    idempotency_key: idempotencyKey,
    took_ms: io.now() - startedAt,
  }
}

/** What a listing costs, for error texts; undefined without a fixed price. Shows the fee on third-party listings. */
function costsOf({ id, price, agent_price, platform_fee_pct }: Listing): string | undefined {
  if (price.fixed === null) return undefined
  return `${id} costs ${price.fixed}${agent_price.fixed === price.fixed ? '' : ` + ${platform_fee_pct}%`}`
}

type Ticket = Omit<WireAnswer<'purchaseService'>, 'status'> & Pick<FetchedJob, 'status' | 'deliverables'>

/** Saves the job's token. With `--wait`, also waits for the job. */
async function settle(context: Context, session: Session, ticket: Ticket): Promise<Ticket> {
  if (typeof ticket.access_token === 'string') {
    const { keepJobToken } = await import('../../src/client/secrets.ts')
    keepJobToken(context.places, session.target.instance, {
      job: ticket.job_id,
      thread: ticket.thread_id,
      token: ticket.access_token,
    })
  }
  if (ticket.status === 'completed' || context.globals.wait === false) return ticket
  const waited = await waitForJob(context, session, ticket.job_id)
  if (waited.end !== 'over') context.exit('pending')
  if (waited.end === 'unreadable') {
    // The job cannot be read again, but the purchase succeeded: show its first response.
    context.io.warn(`! ${noFreeRead(ticket.job_id).message}`)
    return ticket
  }
  const { job } = waited
  if (['failed', 'expired', 'cancelled', 'refunded'].includes(job.status)) context.exit('failure')
  return { ...ticket, status: job.status, ...(job.deliverables ? { deliverables: job.deliverables } : {}) }
}
