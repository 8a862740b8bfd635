import type { SentBody } from '../client/asked.ts'
import { AppError, type ErrorCode } from '../core/error.ts'
import { type Operator, operatorOf, type Person, personAt, type Stage } from './hand.ts'

export const roles = {
  lingua: { name: 'Lingua', type: 'provider', description: 'Translations by machine, checked by people.' },
  inkwell: { name: 'Inkwell', type: 'provider', description: 'Copy, proofreading and site audits, by hand.' },
  pixelforge: { name: 'Pixelforge', type: 'provider', description: 'Logos, icons and palettes.' },
  acme: { name: 'Acme Corp', type: 'agent', description: 'Buys what its site needs.' },
  bot7: { name: 'Bot7', type: 'agent', description: 'An agent with a budget.' },
  quill: { name: 'Quill', type: 'both', description: 'Buys a lot, and sells a summary now and then.' },
} as const
export type RoleName = keyof typeof roles
export const roleNames = Object.keys(roles) as readonly RoleName[] // the keys of it
export type Cast = Readonly<Record<RoleName, Person>>

const FUNDS = '950.00'
const TOP_UP = '40.00'
const TEXT = { type: 'object', properties: { text: { type: 'string', maxLength: 20_000 } }, required: ['text'] }
const PAGE = { type: 'object', properties: { url: { type: 'string', maxLength: 2_000 } }, required: ['url'] }

export type Ware = 'french' | 'legal' | 'copy' | 'audit' | 'logo' | 'palette'
type Seller = 'lingua' | 'inkwell' | 'pixelforge'

/** Listings of the demo users. */
const shelf: Readonly<Record<Ware, SentBody<'createService'> & { readonly by: Seller }>> = {
  french: {
    by: 'lingua',
    name: 'French translation',
    description: 'English to French, up to 20,000 characters.',
    price: '0.50',
    fulfillment_type: 'automated',
    estimated_delivery: '2 hours',
    category: 'text',
    tags: ['translation', 'french'],
    input_schema: TEXT,
    deliverable_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  legal: {
    by: 'lingua',
    name: 'Legal translation',
    description: 'Contracts, by a translator who knows the law.',
    price: '4.00',
    fulfillment_type: 'automated',
    estimated_delivery: '3 days',
    category: 'text',
    tags: ['translation', 'legal'],
    input_schema: TEXT,
  },
  copy: {
    by: 'inkwell',
    name: 'Landing page copy',
    description: 'A page of text that sells, in two days.',
    price: '12.00',
    fulfillment_type: 'human',
    estimated_delivery: '2 days',
    category: 'writing',
    tags: ['copy', 'marketing'],
    input_schema: TEXT,
  },
  audit: {
    by: 'inkwell',
    name: 'Site audit',
    description: 'A person reads every page and says what is wrong.',
    price: '2.50',
    fulfillment_type: 'human',
    estimated_delivery: '1 day',
    category: 'web',
    tags: ['audit', 'seo'],
    input_schema: PAGE,
  },
  logo: {
    by: 'pixelforge',
    name: 'Logo design',
    description: 'Three drafts and a final; the price depends on what you need.',
    price: null,
    pricing_model: 'quote_required',
    fulfillment_type: 'human',
    estimated_delivery: '3 days',
    category: 'design',
    tags: ['logo', 'brand'],
  },
  palette: {
    by: 'pixelforge',
    name: 'Colour palette',
    description: 'Six colours that go together, with their contrasts.',
    price: '1.20',
    fulfillment_type: 'automated',
    estimated_delivery: '1 hour',
    category: 'design',
    tags: ['colour', 'brand'],
    input_schema: TEXT,
  },
}
export const sellerOf = (ware: Ware): Seller => shelf[ware].by
export type Shelf = Readonly<Record<Ware, string>>

export type Opened = { readonly operator: Operator; readonly cast: Cast; readonly shelf: Shelf }

/** Funds and registers the users and lists their services. Acme Corp comes first, because it refers other users. */
export async function openCast(stage: Stage, hookUrl: string): Promise<Opened> {
  const operator = operatorOf(stage)
  const acme = await registered(stage, operator, { role: 'acme' })
  const { referral_code: referralCode } = await acme.call('getReferralCode', {})
  const others = roleNames.filter((name) => name !== 'acme')
  const people: [RoleName, Person][] = [['acme', acme]]
  for (const role of others) {
    const referred = roles[role].type !== 'provider' || role === 'pixelforge' ? { referralCode } : {}
    const hook = role === 'lingua' ? { hookUrl } : {}
    people.push([role, await registered(stage, operator, { role, ...referred, ...hook })])
  }
  const cast = Object.fromEntries(people) as Cast // one for each role
  return { operator, cast, shelf: await listed(cast) }
}

type Registration = { readonly role: RoleName; readonly referralCode?: string; readonly hookUrl?: string }

async function registered(stage: Stage, operator: Operator, { role, referralCode, hookUrl }: Registration) {
  const stranger = await personAt(stage, role)
  await operator.call('faucet', { body: { wallet: stranger.address, amount: FUNDS } })
  const { participant_id: id, api_key: key } = await stranger.pay('register', {
    body: {
      ...roles[role],
      ...(referralCode === undefined ? {} : { referral_code: referralCode }),
      ...(hookUrl === undefined ? {} : { webhook_url: hookUrl }),
    },
  })
  return personAt(stage, role, { id, key: key ?? '' })
}

/** Skips existing listings. */
async function listed(cast: Cast): Promise<Shelf> {
  const ids: [Ware, string][] = []
  for (const ware of Object.keys(shelf) as readonly Ware[]) {
    const { by, ...fields } = shelf[ware]
    const { services } = await cast[by].call('getCatalog', { query: { mine: 'true' } })
    const known = services.find(({ name, status }) => name === fields.name && status === 'active')
    ids.push([ware, known?.id ?? (await cast[by].call('createService', { body: fields })).id])
  }
  return Object.fromEntries(ids) as Shelf // one for each ware
}

/** Joins the demo users at an existing marketplace: registers missing ones and replaces lost keys. */
export async function joinCast(stage: Stage, keyOf: (address: string) => string | undefined): Promise<Opened> {
  const operator = operatorOf(stage)
  const people: [RoleName, Person][] = []
  for (const role of roleNames) people.push([role, await joined(stage, operator, { role, keyOf })])
  const cast = Object.fromEntries(people) as Cast // one for each role
  return { operator, cast, shelf: await listed(cast) }
}

type Joining = { readonly role: RoleName; readonly keyOf: (address: string) => string | undefined }

async function joined(stage: Stage, operator: Operator, { role, keyOf }: Joining): Promise<Person> {
  const stranger = await personAt(stage, role)
  const id = await stranger.call('getParticipant', { params: { id: stranger.address } }).then(
    (known) => known.id,
    (error) => (isCode(error, 'not_found') ? undefined : Promise.reject(error)),
  )
  if (id === undefined) return registered(stage, operator, { role })
  await topUp(operator, stranger)
  const key = keyOf(stranger.address)
  const person = await personAt(stage, role, { id, key: key ?? '' })
  const isGood = key !== undefined && (await person.call('getBalance', {}).then(() => true, isNotUnauthorized))
  if (isGood) return person
  const { api_key: fresh } = await stranger.pay('rotateKey', {})
  return personAt(stage, role, { id, key: fresh ?? '' })
}

/** Funds a wallet, unless the wallet has reached the daily limit of the faucet. */
export async function topUp(operator: Operator, { address }: Person): Promise<void> {
  const given = operator.call('faucet', { body: { wallet: address, amount: TOP_UP } })
  await given.catch((error) => (isCode(error, 'rate_limited') ? undefined : Promise.reject(error)))
}

function isCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof AppError && error.code === code
}

function isNotUnauthorized(error: unknown): boolean {
  if (isCode(error, 'unauthorized')) return false
  throw error
}
