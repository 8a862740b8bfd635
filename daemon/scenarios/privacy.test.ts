import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Marketplace, openMarketplace } from '../../fixtures/marketplace.ts'
import { type Mark, type Marked, markEverything, PROPOSAL_PRICE } from '../../fixtures/scenarios/private-things.ts'
import type { Ask, Who } from '../../fixtures/scenarios/scenario.ts'
import { openStage, type Stage } from '../../fixtures/scenarios/stage.ts'
import { type Endpoint, paramNames } from '../../src/api/endpoint.ts'
import { api, type RowName, rowNames } from '../../src/api/index.ts'

let market: Marketplace
let stage: Stage
let marked: Marked
beforeAll(async () => {
  market = await openMarketplace()
  stage = openStage(market)
  marked = await markEverything(stage)
})
afterAll(async () => {
  await market.close()
  await marked.hook.close()
})

const rowOf = (name: RowName): Endpoint => api[name]
const isRead = (name: RowName) => rowOf(name).method === 'GET'
/** Rows that never end, and the one whose answer is the whole store: that is what the operator asks it for. */
const endless = new Set<RowName>(['streamEvents', 'getBackup'])
/** Reads first: what a walker then buys is its own. A new key would end what it may do. */
const walked = rowNames
  .filter((name) => name !== 'rotateKey')
  .toSorted((one, two) => Number(isRead(two)) - Number(isRead(one)))

/** Bodies that a row takes; the others get an empty one. */
const bodies: Partial<Record<RowName, unknown>> = {
  purchaseService: { text: 'walked' },
  inquire: { brief: 'walked' },
  proposePrice: { price: '1.00' },
  postThreadMessage: { message: 'walked' },
  postJobMessage: { message: 'walked' },
  disputeJob: { reason: 'walked', category: 'other' },
  disputeThread: { reason: 'walked', category: 'other' },
  updateJob: { status: 'in_progress' },
  updateThread: { status: 'in_progress' },
  awardPosting: { bid_id: '$bid' },
  createBid: { price_usd: '1.00', eta_hours: 1, service_id: '$listing' },
  updateParticipant: { name: 'walked' },
  updateService: { name: 'walked' },
  getReputations: { wallets: ['$buyer.wallet', '$provider.wallet'] },
}

/** Every way to fill the parameters of a row with what is really there. */
function paramsOf(name: RowName): Record<string, string>[] {
  const { path } = rowOf(name)
  const [first, second] = paramNames(path)
  if (first === undefined) return [{}]
  const noun =
    path
      .slice(0, path.indexOf(`/:${first}`))
      .split('/')
      .at(-1) ?? ''
  const ids = marked.ids[noun] ?? ['no-such-thing']
  return ids.map((id) => ({
    [first]: id,
    ...(second ? { [second]: marked.ids[`${second.replace('Id', '')}s`]?.[0] ?? 'x' } : {}),
  }))
}

type Seen = { readonly where: string; readonly text: string }

/** Everything that an answer says, the base64 of its headers included. */
function rawOf({ headers, text }: Answer): string {
  const values = [...headers].map(([name, value]) => `${name}: ${value} ${Buffer.from(value, 'base64')}`)
  return `${values.join('\n')}\n${text}`
}

async function walk(who: Who, names: readonly RowName[], more: Partial<Ask> = {}): Promise<Seen[]> {
  const seen: Seen[] = []
  for (const name of names) {
    for (const params of paramsOf(name)) {
      const body = isRead(name) ? {} : { body: bodies[name] ?? {} }
      const answer = await stage.ask(name, { as: who, params, ...body, ...more })
      seen.push({ where: `${name} ${JSON.stringify(params)} → ${answer.status}`, text: rawOf(answer) })
    }
  }
  return seen
}

/** The 402 says the price to whoever knows the id, and who then tried to pay it has that in its own export. */
const wasQuoted = new RegExp(`^${PROPOSAL_PRICE}: (?:acceptPrice .* 402|getExport .*)$`)

const found = (seen: readonly Seen[], marks: readonly Mark[]) =>
  marks
    .flatMap(({ what, text }) => seen.filter((one) => one.text.includes(text)).map(({ where }) => `${what}: ${where}`))
    .filter((one) => !wasQuoted.test(one))

describe.each<[Who]>([['anonymous'], ['other'], ['rival'], ['stranger']])('%s', (who) => {
  test('sees nothing that is others’, whatever row it asks for', async () => {
    const seen = await walk(
      who,
      walked.filter((name) => !endless.has(name)),
    )
    expect(seen.length).toBeGreaterThan(rowNames.length / 2)
    expect(found(seen, marked.marks)).toEqual([])
  })

  test('sees nothing of it with the balance credential, or as a payer without a registration', async () => {
    const paid = walked.filter((name) => ['paid', 'key_or_paid'].includes(rowOf(name).access.door))
    const seen = who === 'anonymous' ? [] : await walk(who, paid, { pay: who === 'stranger' ? 'x402' : 'balance' })
    expect(found(seen, marked.marks)).toEqual([])
  })
})

describe.each<['buyer' | 'provider']>([['buyer'], ['provider']])('the %s', (who) => {
  test('sees its own by reading, and nothing that is only the other’s', async () => {
    const seen = await walk(
      who,
      walked.filter((name) => isRead(name) && !endless.has(name)),
    )
    const isOwn = ({ owners }: Mark) => owners.includes(who)
    expect(
      found(
        seen,
        marked.marks.filter((one) => !isOwn(one)),
      ),
    ).toEqual([])
    const shown = marked.marks.filter(({ text }) => seen.some((one) => one.text.includes(text)))
    expect(shown.map(({ what }) => what)).toEqual(marked.marks.filter(isOwn).map(({ what }) => what))
  })
})

test('the operator sees no key, hash of one or secret', async () => {
  const seen = await walk(
    'admin',
    walked.filter((name) => isRead(name) && !endless.has(name)),
  )
  expect(
    found(
      seen,
      marked.marks.filter(({ admin }) => !admin),
    ),
  ).toEqual([])
})
