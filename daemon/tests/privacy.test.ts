import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/market/marketplace.ts'
import { type Mark, type Marked, markEverything, PROPOSAL_PRICE } from '../../fixtures/scenarios/private-things.ts'
import type { Ask, PersonName, Who } from '../../fixtures/scenarios/scenario.ts'
import { openStage, type Stage } from '../../fixtures/scenarios/stage.ts'
import { take } from '../../fixtures/scenarios/steps.ts'
import { type Endpoint, isPaid, paramNames } from '../../src/api/endpoint/define.ts'
import { api, type EndpointName, endpointNames } from '../../src/api/index.ts'
import { bodyExamples } from '../../src/api/openapi/requests.ts'
import { events } from '../events/rows.ts'

// @slow every row, seen by everyone

let market: Marketplace
let stage: Stage
let marked: Marked
beforeAll(async () => {
  market = await openMarketplace()
  stage = openStage(market)
  marked = await markEverything(stage)
  await take(stage, ['the terms'])
  await switchEverythingOn()
})
afterAll(async () => {
  await market.close()
  await marked.hook.close()
})

const rowOf = (name: EndpointName): Endpoint => api[name]
const isRead = (name: EndpointName) => rowOf(name).method === 'GET'
/** Together every row there is; reads come first: what a walker then buys is its own. */
const reads = endpointNames.filter(isRead)
const writes = endpointNames.filter((name) => !isRead(name))
const operators = endpointNames.filter((name) => rowOf(name).access.kind === 'admin')

/** A row that is switched off tells nobody anything. */
async function switchEverythingOn(): Promise<void> {
  const { body } = await market.admin('GET', '/dashboard/api/admin/features')
  const features = Object.fromEntries(body.features.map(({ name }: { name: string }) => [name, true]))
  await market.admin('PUT', '/dashboard/api/admin/features', { body: { features } })
}

/** The examples of the description, about what is really there; nobody registers, so that a stranger stays one. */
const bodies: Partial<Record<EndpointName, unknown>> = {
  ...bodyExamples,
  register: {},
  onboardProvider: {},
  acceptTerms: { version: '$terms' },
  updateService: { name: 'walked' },
  updateParticipant: { name: 'walked' },
  updateJob: { status: 'in_progress' },
  updateThread: { status: 'in_progress' },
  createPlan: { name: 'walked', price: '10.00', billing_period: 'monthly', service_ids: ['$listing'] },
  createBid: { price_usd: '1.00', eta_hours: 1, service_id: '$listing' },
  awardPosting: { bid_id: '$bid' },
  getReputations: { wallets: ['$buyer.wallet', '$provider.wallet'] },
  setFeatures: {},
}
const file = { name: 'walked.txt', text: 'walked' }
const forms: Partial<Record<EndpointName, Ask['form']>> = {
  uploadThreadFile: { message: 'walked', file },
  createProduct: { name: 'walked', price: '1.00', file },
}
const queries: Partial<Record<EndpointName, Ask['query']>> = {
  searchResources: { query: 'words' },
  streamEvents: { cursor: '0' },
}

/** Every way to fill the parameters of a row with what is really there. */
function paramsOf(name: EndpointName): Record<string, string>[] {
  const { path } = rowOf(name)
  const [first, second] = paramNames(path)
  if (first === undefined) return [{}]
  const noun =
    path
      .slice(0, path.indexOf(`/:${first}`))
      .split('/')
      .at(-1) ?? ''
  const ids = marked.ids[noun] ?? ['no-such-thing']
  const parts =
    second === undefined ? [{}] : (marked.ids[`${second.replace('Id', '')}s`] ?? ['x']).map((id) => ({ [second]: id }))
  return ids.flatMap((id) => parts.map((part) => ({ [first]: id, ...part })))
}

type Seen = { readonly row: EndpointName; readonly status: number; readonly where: string; readonly text: string }

/** The milliseconds of a time, in which the digits of a price may stand by chance. */
const MILLISECONDS = /\.\d{3}Z/g

/** Everything that an answer says, the base64 of its headers included. */
function rawOf({ headers, text }: Answer): string {
  const values = [...headers].map(([name, value]) => `${name}: ${value} ${Buffer.from(value, 'base64')}`)
  return `${values.join('\n')}\n${text}`.replaceAll(MILLISECONDS, 'Z')
}

/** What a row is asked besides its path, and how much is read of what never ends. */
async function askOf(name: EndpointName): Promise<Partial<Ask>> {
  const query = queries[name] ?? {}
  if (isRead(name)) return rowOf(name).reply.kind === 'events' ? { query, events: await numberOfEvents() } : { query }
  const form = forms[name]
  return form ? { query, form } : { query, body: bodies[name] ?? {} }
}

async function numberOfEvents(): Promise<number> {
  const newest = await market.daemon.ctx.store.table(events).page('seq', [], { limit: 1, order: 'desc' })
  return newest.rows[0]?.seq ?? 0
}

async function walk(who: Who, names: readonly EndpointName[], more: Partial<Ask> = {}): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const row of names) {
    for (const params of paramsOf(row)) {
      const answers = await answersOf(row, { as: who, params, ...(await askOf(row)), ...more })
      const where = (status: number) => `${row} ${JSON.stringify(params)} → ${status}`
      seen.push(...answers.map((one) => ({ row, status: one.status, where: where(one.status), text: rawOf(one) })))
    }
  }
  return seen
}

async function answersOf(row: EndpointName, ask: Ask): Promise<Answer[]> {
  const answer = await stage.ask(row, ask)
  const isRotated = row === 'rotateKey' && answer.status === 200
  if (isRotated) await stage.rekey(ask.as as PersonName, answer.body.api_key) // a wallet has paid
  return rowOf(row).reply.kind === 'feed' ? [answer, await followed(row, ask, answer)] : [answer]
}

/** The same list as a stream: as many events as the page had. */
function followed(name: EndpointName, ask: Ask, page: Answer): Promise<Answer> {
  const headers = { ...ask.headers, Accept: 'text/event-stream' }
  return stage.ask(name, { ...ask, headers, events: page.body.events?.length ?? 0 })
}

const rowsIn = (seen: readonly Seen[]) => [...new Set(seen.map(({ row }) => row))].toSorted()
const textsOf = (seen: readonly Seen[], name: EndpointName) =>
  seen.filter(({ row }) => row === name).map(({ text }) => text)

/** The 402 says the price to whoever knows the id, and who then tried to pay it has that in its own export. */
const wasQuoted = new RegExp(`^${PROPOSAL_PRICE}: (?:acceptPrice .* 402|getExport .*)$`)

const found = (seen: readonly Seen[], marks: readonly Mark[]) =>
  marks
    .flatMap(({ what, text }) => seen.filter((one) => one.text.includes(text)).map(({ where }) => `${what}: ${where}`))
    .filter((one) => !wasQuoted.test(one))

const isOwn =
  (who: Who) =>
  ({ owners }: Mark) =>
    owners.includes(who)
const notOwn = (who: Who) => marked.marks.filter((one) => !isOwn(who)(one))

function expectOperatorOnly(seen: readonly Seen[]): void {
  const answers = seen.filter(({ row }) => operators.includes(row))
  expect(answers.filter(({ status }) => status !== 401 && status !== 403).map(({ where }) => where)).toEqual([])
}

/** A rotated key counts: what came after it was asked with the new one. */
function expectRotated(who: Who, seen: readonly Seen[]): void {
  const statuses = seen.filter(({ row }) => row === 'rotateKey').map(({ status }) => status)
  expect(statuses).toEqual([{ anonymous: 402, bearer: 402, stranger: 403 }[who as string] ?? 200])
}

test('the rows of this matrix are all that there are', () => {
  expect([...reads, ...writes].toSorted()).toEqual([...endpointNames].toSorted())
  expect(operators).toEqual(expect.arrayContaining(['streamEvents', 'getBackup']))
})

describe.each<[Who]>([['anonymous'], ['other'], ['rival'], ['stranger'], ['bearer']])('%s', (who) => {
  test('sees nothing that is others’, whatever row it asks for', async () => {
    const seen = await walk(who, [...reads, ...writes])
    expect(rowsIn(seen)).toEqual([...endpointNames].toSorted())
    expect(found(seen, notOwn(who))).toEqual([])
    expectOperatorOnly(seen)
    expectRotated(who, seen)
  })
})

describe.each<[PersonName, 'balance' | 'x402']>([
  ['other', 'balance'],
  ['rival', 'balance'],
  ['stranger', 'x402'],
])('%s, who pays from %s,', (who, pay) => {
  test('sees nothing of it by paying', async () => {
    const paid = endpointNames.filter((name) => isPaid(rowOf(name)))
    const seen = await walk(who, paid, { pay })
    expect(rowsIn(seen)).toEqual(paid.toSorted())
    expect(found(seen, notOwn(who))).toEqual([])
  })
})

const parties = [['buyer'], ['provider']] as const

describe.each(['buyer', 'provider', 'bearer'] as const)('the %s', (who) => {
  test('sees its own by reading, and nothing that is only the other’s', async () => {
    const seen = await walk(who, reads)
    expect(rowsIn(seen)).toEqual(reads.toSorted())
    expect(found(seen, notOwn(who))).toEqual([])
    expectOperatorOnly(seen)
    const shown = marked.marks.filter(({ text }) => seen.some((one) => one.text.includes(text)))
    expect(shown.map(({ what }) => what)).toEqual(marked.marks.filter(isOwn(who)).map(({ what }) => what))
  })
})

describe.each(parties)('the %s', (who) => {
  test('sees nothing that is only the other’s by writing', async () => {
    const seen = await walk(who, writes)
    expect(rowsIn(seen)).toEqual(writes.toSorted())
    expect(found(seen, notOwn(who))).toEqual([])
    expectOperatorOnly(seen)
    expectRotated(who, seen)
  })
})

/**
 * A backup is the whole store, which is what the operator asks it for: hashes of keys, and the secrets that
 * deliveries are signed with. What only its owner holds, a key or a token, is not even in there.
 */
const inBackup = /^(?:key hash|webhook secret|hash of the admin key)/

/* Last: the operator's rows stop and move the marketplace. */
test('the operator sees no key, hash of one or secret but in a backup, and no key or token even there', async () => {
  const seen = await walk('admin', [...reads, ...writes])
  expect(rowsIn(seen)).toEqual([...endpointNames].toSorted())
  const secret = marked.marks.filter(({ admin }) => !admin)
  const kept = secret.filter(({ what }) => inBackup.test(what)).map(({ what }) => `${what}: getBackup {} → 200`)
  expect([found(seen, secret), kept.length]).toEqual([kept, 5])
  const message = marked.marks.find(({ what }) => what === 'message')?.text
  expect(textsOf(seen, 'getBackup')).toEqual([expect.stringContaining(message ?? '?')])
  expect(textsOf(seen, 'streamEvents')).toEqual([expect.stringContaining(stage.get('job'))])
})
