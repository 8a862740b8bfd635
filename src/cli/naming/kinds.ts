import { isId } from '../../client/wire-id.ts'
import { isAddress } from '../../core/hex.ts'
import { type IdNoun, idPrefixes } from '../../core/id-prefixes.ts'
import { compact, isKeyOf } from '../../core/record.ts'
import type { CommandContext } from '../command.ts'
import type { Session } from '../session.ts'

/** Maximum number of rows read per list. */
const ROWS_MAX = 100

export type Nameable = {
  readonly id: string
  /** Names of the object; empty if only its id can name it. */
  readonly names: readonly string[]
  readonly summary: string
  /** `self`: the caller owns the object; `house`: the marketplace itself sells it. */
  readonly of?: 'self' | 'house'
  /** Facts that distinguish objects with the same name. */
  readonly facts?: readonly (string | null)[]
}

export type Asker = Pick<CommandContext<unknown, unknown>, 'session' | 'places' | 'system'> & {
  /** The caller acts as administrator and may see everything. */
  readonly asAdmin: boolean
}

export type Kind = {
  /** Singular noun for sentences. */
  readonly noun: string
  readonly listedBy: string
  /** Prefix of ids of this kind; empty if the object's name is its id. */
  readonly prefix: string
  isId(word: string): boolean
  readonly isNamed: boolean
  /** @param q search words, if the list supports them */
  known(asker: Asker, q?: string): Promise<readonly Nameable[]>
}

const limit = String(ROWS_MAX)

type Own = { readonly headers: Readonly<Record<string, string>> }

/** Headers with the wallet's saved API key, if there is one. Never signs, and never asks for a passphrase. */
async function ownKey(session: Session): Promise<Own | undefined> {
  const key = await session.apiKey()
  return key === undefined ? undefined : { headers: { 'x-api-key': key } }
}

/** Id of the participant to which the wallet's saved API key belongs; undefined without a key. */
async function ownIdIn(session: Session): Promise<string | undefined> {
  const own = await ownKey(session)
  return own && (await session.call('getBalance', own)).participant_id
}

/** What differs between kinds. Most are named, and are called as their ids are. */
type Pieces = Pick<Kind, 'listedBy'> &
  Partial<Pick<Kind, 'noun' | 'isNamed'>> & {
    known(session: Session, asker: Asker, q?: string): Promise<readonly Nameable[]>
  }

function kind(noun: IdNoun, pieces: Pieces): Kind {
  const { known } = pieces
  return {
    noun,
    isNamed: true,
    ...pieces,
    prefix: idPrefixes[noun],
    isId: (word) => isId(noun, word),
    // Ids become part of a path, so an object without a valid id is dropped.
    known: async (asker, q) => {
      const found = (await known(await asker.session(), asker, q)).filter(({ id }) => isId(noun, id))
      // The caller's own listings appear in the catalog too. Of the two entries, keep the one marked as own.
      return [...new Map(found.toReversed().map((one) => [one.id, one])).values()].toReversed()
    },
  }
}

type Listed = readonly {
  readonly id: string
  readonly name: string
  readonly slug?: string | undefined
  readonly first_party?: boolean | undefined
  readonly provider_name?: string | undefined
  readonly agent_price?: { readonly fixed: string | null } | string | undefined
}[]
type Page = { readonly query: { readonly q?: string; readonly limit: string; readonly mine?: 'true' } } & Partial<Own>

/** Finds the caller's own listings and those in the catalog. */
function withOwn(page: (session: Session, asked: Page) => Promise<Listed>): Pieces['known'] {
  return async (session, _asker, q) => {
    const own = await ownKey(session)
    const mine = own === undefined ? [] : await page(session, { query: { mine: 'true', limit }, ...own })
    const found = await page(session, { query: { ...compact({ q }), limit } })
    return [...mine.map((one) => nameable(one, 'self')), ...found.map((one) => nameable(one))]
  }
}

function nameable(listed: Listed[number], whose?: 'self'): Nameable {
  const { id, name, slug, first_party: isHouse, provider_name: provider = null, agent_price: price = null } = listed
  const paid = typeof price === 'string' ? `$${price}` : (price?.fixed ?? null)
  const of: Nameable['of'] = isHouse && whose === undefined ? 'house' : whose
  return {
    id,
    names: slug === undefined ? [name] : [name, slug],
    summary: name,
    facts: [name, provider, paid],
    ...compact({ of }),
  }
}

const service = kind('service', {
  listedBy: 'souk services list',
  known: withOwn(async (session, asked) => (await session.call('getCatalog', asked)).services),
})

const participant = kind('participant', {
  listedBy: 'souk participants list',
  async known(session, { asAdmin }) {
    const { participants } = asAdmin
      ? await session.call('listParticipants', { query: { limit } })
      : await session.call('getDirectory', { query: { limit } })
    return participants.map(({ id, name, wallet }) => ({ id, names: [name, wallet], summary: name }))
  },
})

const job = kind('job', {
  listedBy: 'souk jobs list',
  isNamed: false,
  async known(session, asker) {
    if (asker.asAdmin) return (await session.call('listAllJobs', { query: { limit } })).jobs.map(jobKnown)
    const own = await ownKey(session)
    const jobs = own === undefined ? [] : (await session.call('listJobs', { query: { limit }, ...own })).jobs
    return [...jobs.map(jobKnown), ...(await bought(asker, session))]
  },
})

type JobRow = { readonly job_id: string; readonly status: string; readonly service_name?: string | null | undefined }

function jobKnown({ job_id: id, status, service_name: name }: JobRow): Nameable {
  return { id, names: [], summary: [status, name].filter(Boolean).join(' ') }
}

/** Purchases that were made without an account, found by their saved tokens. */
async function bought({ places }: Asker, { target }: Session): Promise<readonly Nameable[]> {
  const { tokensAt } = await import('../../client/secrets.ts')
  return tokensAt(places, target.instance).map((id) => ({ id, names: [], summary: 'bought without an account' }))
}

const thread = kind('thread', {
  noun: 'conversation',
  listedBy: 'souk threads list',
  isNamed: false,
  async known(session, asker) {
    const own = asker.asAdmin ? undefined : await ownKey(session)
    if (!asker.asAdmin && own === undefined) return bought(asker, session)
    const { threads } = asker.asAdmin
      ? await session.call('listAllThreads', { query: { limit } })
      : await session.call('listThreads', { query: { limit }, ...own })
    return threads.map(({ thread_id: id, status }) => ({ id, names: [], summary: status }))
  },
})

const plan = kind('plan', {
  listedBy: 'souk plans list',
  async known(session) {
    const { plans } = await session.call('listPlans', { query: { limit } })
    const own = await ownIdIn(session)
    return plans.map((plan) => nameable({ ...plan, id: plan.plan_id }, plan.provider_id === own ? 'self' : undefined))
  },
})

const product = kind('product', {
  listedBy: 'souk products list',
  known: withOwn(async (session, asked) => (await session.call('listProducts', asked)).products),
})

const posting = kind('posting', {
  noun: 'request',
  listedBy: 'souk requests list',
  async known(session, _asker, q) {
    const { postings } = await session.call('listPostings', { query: { ...compact({ q }), limit } })
    const own = await ownIdIn(session)
    return postings.map(({ posting_id: id, title: name, poster_id }) =>
      nameable({ id, name }, poster_id === own ? 'self' : undefined),
    )
  },
})

const subscription = kind('subscription', {
  listedBy: 'souk subs list',
  async known(session) {
    const own = await ownKey(session)
    if (own === undefined) return []
    const { subscriptions } = await session.call('listSubscriptions', { query: { limit }, ...own })
    return subscriptions.map(({ subscription_id: id, plan_name: name, status }) => ({
      id,
      names: [name],
      summary: `${status} ${name}`,
    }))
  },
})

const delivery = kind('delivery', {
  listedBy: 'souk webhooks list',
  isNamed: false,
  async known(session, asker) {
    const own = asker.asAdmin ? undefined : await ownKey(session)
    if (!asker.asAdmin && own === undefined) return []
    const { deliveries } = asker.asAdmin
      ? await session.call('getWebhooks', { query: { limit } })
      : await session.call('listDeliveries', { query: { limit }, ...own })
    return deliveries.map(({ id, type, status }) => ({ id, names: [], summary: `${status} ${type}` }))
  },
})

const cron: Kind = {
  noun: 'cron',
  listedBy: 'souk crons list',
  prefix: '',
  isId: (word) => /^[a-z][a-z-]*$/.test(word),
  isNamed: false,
  async known({ session }) {
    const { crons } = await (await session()).call('getHealth', {})
    return Object.keys(crons).map((id) => ({ id, names: [], summary: '' }))
  },
}

const wallet: Kind = {
  noun: 'wallet',
  listedBy: 'souk participants list',
  prefix: '',
  isId: isAddress,
  isNamed: true,
  async known(asker) {
    const { listWallets } = await import('../../client/wallets.ts')
    const here = listWallets(asker.places).map(({ name, address }) => ({ id: address, names: [name], summary: name }))
    const people = await listedWallets(asker)
    return [...here, ...people.filter(({ id }) => !here.some((one) => one.id.toLowerCase() === id.toLowerCase()))]
  },
}

async function listedWallets({ session }: Asker): Promise<readonly Nameable[]> {
  const { participants } = await (await session()).call('getDirectory', { query: { limit } })
  return participants
    .filter((one) => isAddress(one.wallet))
    .map(({ id, wallet: address, name }) => ({ id: address, names: [name, id], summary: name }))
}

export const kinds = { service, participant, job, thread, plan, product, posting, subscription, delivery, cron, wallet }
export type KindName = keyof typeof kinds

/** Positionals that are not called like their kind. */
const positionals: Readonly<Record<string, KindName>> = { services: 'service', request: 'posting', wallets: 'wallet' }

const options: Readonly<Record<string, KindName>> = {
  service: 'service',
  listing: 'service',
  plan: 'plan',
  participant: 'participant',
  provider: 'participant',
  parentJob: 'job',
}

export function kindOfArgument(key: string): Kind | undefined {
  const name = isKeyOf(kinds, key) ? key : positionals[key]
  return name && kinds[name]
}

export function kindOfOption(key: string): Kind | undefined {
  const name = options[key]
  return name && kinds[name]
}
