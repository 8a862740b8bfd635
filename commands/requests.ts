import type { Request } from '../src/api/endpoint/define.ts'
import type { Api, WireAnswer } from '../src/api/index.ts'
import { andJson, type CommandContext, defineCall, defineCommand, watchOptions } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { DOCUMENT, readDocument, readObjectFile, textOf, unjudged } from '../src/cli/files/document.ts'
import { exampleOf, exampleOption } from '../src/cli/files/examples.ts'
import type { Io } from '../src/cli/io.ts'
import { columnsOf, pageOf, pageOptions, showNoun, showPage } from '../src/cli/nouns/lists.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import { isJsonObject, parseJson } from '../src/core/json.ts'
import { formatAmount } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import { dollars, type Posting, posting, posting as postingNoun } from '../src/nouns/postings.ts'
import { bold, cyan, green, yellow } from '../src/text/text.ts'

export type Bid = WireAnswer<'createBid'>

export const bidColumns: readonly Column<Bid>[] = [
  { title: 'BID', value: ({ bid_id }) => bid_id },
  { title: 'STATUS', value: ({ status }) => status },
  {
    title: 'YOU PAY',
    value: ({ agent_price_usd: price }) => dollars(price),
    plain: (bid) => bid.agent_price_usd,
    align: 'right',
  },
  { title: 'HOURS', value: ({ eta_hours }) => eta_hours, align: 'right' },
  { title: 'SERVICE', value: ({ service_id }) => service_id, drop: 2 },
  { title: 'PITCH', value: ({ pitch }) => pitch, flexible: true, drop: 1 },
]

export function showBid(bid: Bid, io: Io): void {
  io.line(`${bold(bid.bid_id)}   ${bid.status}   ${bid.posting_id}`)
  io.line(`  price     ${dollars(bid.price_usd)}, the buyer pays ${dollars(bid.agent_price_usd)}   ${bid.eta_hours} h`)
}

export const requestsAward = defineCommand({
  name: 'requests award',
  summary: 'accept a bid: pay it into escrow and open the job',
  pays: 'awardPosting',
  aliases: ['postings award'],
  args: z.object({
    request: z.string().meta({ description: 'id of the request' }),
    bid: z.string().meta({ description: 'id of the bid' }),
  }),
  examples: andJson('souk requests award post_0123456789abcdef bid_0123456789abcdef --max-price 20'),
  async run(context) {
    const { request, bid } = context.args
    const session = await context.session()
    const { answer: awarded, payment } = await pay(context, session, {
      endpoint: 'awardPosting',
      asked: { params: { id: request }, body: { bid_id: bid } },
      stated: ({ amount }) => amount,
    })
    const { method, payer, transaction, amount } = payment
    return { ...awarded, payment: { method, amount: formatAmount(amount), payer, transaction } }
  },
  view({ amount, payment, receipt_id, job_id, status }, io) {
    const from = payment.method === 'balance' ? 'from balance' : 'by x402'
    io.line(`${green('✓')} paid ${bold(`$${amount}`)} ${from} into escrow   receipt ${receipt_id}`)
    io.line(`${yellow('●')} ${job_id} ${status}`)
    io.note(`  next: ${cyan(io.hint(`souk jobs view ${job_id}`))}`)
  },
})

export const requestsBid = defineCall({
  name: 'requests bid',
  summary: 'bid on a request',
  aliases: ['postings bid'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({
    service: z.string().meta({ description: 'your listing for the work', value: 'id' }),
    price: z.string().meta({ description: 'your price', value: 'usd' }),
    eta: z.number().meta({ description: 'delivery time', value: 'hours' }),
    pitch: z.string().default('').meta({ description: 'message to the requester', value: 'text' }),
  }),
  examples: [
    'souk requests bid post_0123456789abcdef --service svc_0123456789abcdef --price 8 --eta 24',
    'souk requests bid post_0123456789abcdef --service svc_0123456789abcdef --price 7.50 --eta 2 --pitch "Done often" --json',
  ],
  asks: 'createBid',
  asked(context) {
    const { service, price, eta, pitch } = context.options
    return {
      params: { id: context.args.request },
      body: { service_id: service, price_usd: price, eta_hours: eta, pitch },
    }
  },
  view: showBid,
})

export const requestsBids = defineCall({
  name: 'requests bids',
  summary: 'list bids on your request',
  aliases: ['postings bids'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  options: z.object({
    status: z.choice(['submitted', 'accepted', 'rejected', 'withdrawn'], { description: 'only in this state' }),
    ...pageOptions,
  }),
  examples: [
    'souk requests bids post_0123456789abcdef',
    'souk requests bids post_0123456789abcdef --status submitted --json',
  ],
  asks: 'listBids',
  asked(context) {
    const { status, limit, page } = context.options
    return { params: { id: context.args.request }, query: compact({ status, ...pageOf({ limit, page }) }) }
  },
  rows: ({ bids }) => bids,
  columns: bidColumns,
  view({ bids, total }, io) {
    printRows(io, bidColumns, bids)
    io.note(bids.length === 0 ? 'no such bid' : `${bids.length} of ${total}`)
    const live = bids.find(({ status }) => status === 'submitted')
    if (live) io.note(`  next: ${cyan(io.hint(`souk requests award ${live.posting_id} ${live.bid_id}`))}`)
  },
})

export const requestsCancel = defineCall({
  name: 'requests cancel',
  summary: 'cancel one of your requests',
  aliases: ['postings cancel'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  examples: andJson('souk requests cancel post_0123456789abcdef --yes'),
  asks: 'cancelPosting',
  confirms: ({ args }) => `Cancel ${args.request}? Its bids are rejected.`,
  view: ({ posting_id: id }, io) => io.line(`${green('✓')} ${id} cancelled`),
})

type Body = Request<Api['createPosting']>['body']

const options = z.object({
  file: z.text({ short: 'f', description: `${DOCUMENT} of the request, - for stdin`, value: 'file' }),
  example: exampleOption,
  title: z.text({ description: 'title of the request', value: 'text' }),
  brief: z.text({ description: 'details: JSON object or text', value: 'text' }),
  briefFile: z.text({ description: 'file with the details (text, YAML or JSON), - for stdin', value: 'file' }),
  budget: z.number().optional().meta({ description: 'highest price to pay', value: 'usd' }),
  minBudget: z.number().optional().meta({ description: 'lowest price', value: 'usd' }),
  category: z.text({ description: 'category of the request', value: 'name' }),
  deadline: z.text({ description: 'deadline for the award, at most 30 days from now', value: 'time' }),
  parentJob: z.text({ description: 'your job of which this request is a subtask', value: 'job' }),
})
type Context = CommandContext<unknown, z.output<typeof options>>

export const requestsCreate = defineCommand({
  name: 'requests create',
  summary: 'create a request for work that providers can bid on',
  aliases: ['postings create'],
  options,
  examples: [
    'souk requests create --example',
    'souk requests create --title "Translate a page" --brief "One page into German" --budget 20',
    `souk requests create --title Logo --brief '{"style":"plain"}' --budget 15 --min-budget 5 --category design --json`,
  ],
  async run(context) {
    const { file, example, title, budget, minBudget, category, deadline, parentJob } = context.options
    if (example) return { example: exampleOf('request').trimEnd().split('\n') }
    const given = file === undefined ? undefined : await readObjectFile(context.io, file, 'the request')
    if (given === undefined && (title === undefined || budget === undefined))
      throw usage('A request needs --title and --budget, or --file.')
    const said = {
      title,
      budget_max_usd: budget,
      budget_min_usd: minBudget,
      category,
      deadline,
      parent_job_id: parentJob,
    }
    const isBriefSaid = context.options.brief !== undefined || context.options.briefFile !== undefined
    const brief = given === undefined || isBriefSaid ? { brief: await readBrief(context) } : {}
    const body = unjudged<Body>({ ...given, ...compact(said), ...brief })
    const session = await context.session()
    return session.call('createPosting', { body })
  },
  view(posting, io) {
    if ('example' in posting) for (const line of posting.example) io.line(line)
    else showNoun(postingNoun, posting, io)
  },
})

/** Reads the request's `brief`. Text that is not a JSON object becomes its member `text`. */
async function readBrief({ io, options: { brief, briefFile } }: Context): Promise<Body['brief']> {
  if ((brief === undefined) === (briefFile === undefined))
    throw usage('Describe the work: give either --brief or --brief-file.')
  // Prose may be valid YAML (`Wanted: a logo`), so only .yaml, .yml and .json files are parsed.
  if (briefFile !== undefined && /\.(ya?ml|json)$/i.test(briefFile)) {
    const document = await readDocument(io, briefFile)
    return isJsonObject(document) ? document : { text: String(document) }
  }
  const text = brief ?? (briefFile === '-' ? await io.stdin() : textOf(briefFile ?? ''))
  try {
    const value = parseJson(text)
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return { text }
}

const POLL_MS = 2_000

const listOptions = z.object({
  status: z.choice(['open', 'awarded', 'completed', 'cancelled', 'expired'], { description: 'only in this state' }),
  category: z.text({ description: 'only of this category', value: 'name' }),
  search: z.text({ short: 's', description: 'search words', value: 'words' }),
  minBudget: z.text({ description: 'lowest budget', value: 'usd' }),
  maxBudget: z.text({ description: 'highest budget', value: 'usd' }),
  createdAfter: z.text({ description: 'only created after this time', value: 'time' }),
  cursor: z.text({ description: 'continue after this next_cursor', value: 'cursor' }),
  follow: z.flag({ short: 'f', description: 'keep printing new requests' }),
  ...pageOptions,
  ...watchOptions,
})
const columns = columnsOf(posting, 'own')
/** A page of requests or, with --follow, one request. */
type Shown = WireAnswer<'listPostings'> | Posting

type ListContext = CommandContext<unknown, z.output<typeof listOptions>>

export const requestsList = defineCommand({
  name: 'requests list',
  summary: 'list requests for work, oldest first',
  aliases: ['postings list'],
  options: listOptions,
  examples: [
    'souk requests list --status open',
    'souk requests list -s translate --json',
    'souk requests list --created-after 2026-01-01T00:00:00Z --ndjson',
  ],
  run: (context) => (context.options.follow ? follow(context) : once(context)),
  rows: (data) => ('postings' in data ? data.postings : [data]),
  columns,
  view(data, io) {
    if ('postings' in data) showPage(posting, data, { io, place: 'own' })
    else printRows(io, columns, [data])
  },
})

async function once(context: ListContext): Promise<Shown> {
  const { cursor, page, limit } = context.options
  if (cursor !== undefined && page > 1) throw usage('--cursor and --page cannot be combined.')
  const place = cursor === undefined ? pageOf({ limit, page }) : { cursor }
  return read(await context.session(), context, place)
}

/** Yields the matching requests that exist, then each new one. */
async function* follow(context: ListContext): AsyncGenerator<Shown> {
  const { signal, system, options: wanted } = context
  if (wanted.search !== undefined)
    throw usage('--follow and --search cannot be combined: one sorts by time, one by relevance.')
  const session = await context.session()
  let cursor = wanted.cursor
  while (!signal.aborted) {
    const { postings, next_cursor } = await read(session, context, cursor === undefined ? {} : { cursor })
    yield* postings
    cursor = next_cursor ?? cursor
    if (postings.length === 0) await system.sleep(POLL_MS, signal)
  }
}

function read(session: Session, { options: wanted }: ListContext, place: { cursor?: string; offset?: string }) {
  const { status, category, search, minBudget, maxBudget, createdAfter, limit } = wanted
  const query = compact({
    status,
    category,
    q: search,
    min_budget_usd: minBudget,
    max_budget_usd: maxBudget,
    created_after: createdAfter,
    limit: String(limit),
    ...place,
  })
  return session.call('listPostings', { query })
}

export const requestsNotifications = defineCommand({
  name: 'requests notifications',
  summary: 'show or change notifications about new requests',
  description: 'Without options, shows the current setting. --on or a filter opts in; --off opts out.',
  aliases: ['postings notifications'],
  options: z.object({
    on: z.flag({ description: 'turn notifications on' }),
    off: z.flag({ description: 'turn notifications off' }),
    minBudget: z.number().optional().meta({ description: 'lowest budget', value: 'usd' }),
    maxBudget: z.number().optional().meta({ description: 'highest budget', value: 'usd' }),
    category: z.list({ description: 'only of this category', value: 'name' }),
    all: z.flag({ description: 'remove all filters' }),
  }),
  examples: [
    'souk requests notifications',
    'souk requests notifications --on --all --json',
    'souk requests notifications --max-budget 25 --category design',
    'souk requests notifications --off',
  ],
  prints: 'getPostingNotifications',
  async run(context) {
    const { on, off, all, minBudget, maxBudget, category } = context.options
    const change: Request<Api['setPostingNotifications']>['body'] = {
      ...(all ? { min_budget_usd: null, max_budget_usd: null, categories: [] } : {}),
      ...compact({ min_budget_usd: minBudget, max_budget_usd: maxBudget }),
      ...(category.length === 0 ? {} : { categories: category }),
    }
    const isChange = on || Object.keys(change).length > 0
    if (off && isChange) throw usage('--off cannot be combined with other flags.')
    const session = await context.session()
    if (off) return session.call('endPostingNotifications', {})
    if (isChange) return session.call('setPostingNotifications', { body: change })
    return session.call('getPostingNotifications', {})
  },
  view({ enabled, min_budget_usd: min, max_budget_usd: max, categories, consecutive_failures: failures }, io) {
    io.line(enabled ? `${green('✓')} you are notified about new requests` : 'you are not notified about new requests')
    if (min !== null || max !== null) {
      io.line(
        `  budget    ${min === null ? '' : `from ${dollars(min)} `}${max === null ? '' : `up to ${dollars(max)}`}`,
      )
    }
    if (categories.length > 0) io.line(`  category  ${categories.join(', ')}`)
    if (failures > 0) io.line(`  failed    ${failures} in a row; after 20, notifications are turned off`)
  },
})

export const requestsView = defineCall({
  name: 'requests view',
  summary: 'show a request for work',
  aliases: ['postings view'],
  args: z.object({ request: z.string().meta({ description: 'id of the request' }) }),
  examples: ['souk requests view post_0123456789abcdef', 'souk requests view post_0123456789abcdef --json'],
  asks: 'getPosting',
  view: (row, io) => showNoun(posting, row, io),
})

export const requestsWithdraw = defineCall({
  name: 'requests withdraw',
  summary: 'withdraw one of your bids',
  aliases: ['postings withdraw'],
  args: z.object({
    request: z.string().meta({ description: 'id of the request' }),
    bid: z.string().meta({ description: 'id of the bid' }),
  }),
  examples: andJson('souk requests withdraw post_0123456789abcdef bid_0123456789abcdef'),
  asks: 'withdrawBid',
  asked(context) {
    const { request, bid } = context.args
    return { params: { id: request, bidId: bid } }
  },
  view: ({ bid_id: id }, io) => io.line(`${green('✓')} ${id} withdrawn`),
})
