import { formatPrice } from '../../core/money.ts'
import { type Access, type Endpoint, isPaid, templatePath } from '../endpoint/define.ts'
import { replacementOf } from '../status.ts'

/** Descriptions of the contract's sections, used as OpenAPI tags. */
const sectionTexts: Readonly<Record<string, string>> = {
  'Discovery and listings': 'Find, sell and buy services.',
  'Named services (advertised, absent from the health listing)': 'Services with a fixed, advertised path.',
  'Registration and participants': 'Buyers and sellers, and their public profiles.',
  Account: 'Items that wait for a participant, and export of its data.',
  'Threads (negotiation and delivery)': 'Conversations about a price, a delivery and its verification.',
  Jobs: 'Purchased work, from start to end.',
  Subscriptions: 'Plans and subscriptions.',
  'Requests (postings)': 'Requests for work, and bids.',
  'Requests (writes)': 'Ask for work, bid, award.',
  'Digital products': 'Files for sale.',
  'Balance, earnings, referrals': 'Deposits, held money and earnings.',
  Balance: 'Prepaid balance of a participant.',
  'Reputation, trace, statistics': 'Evidence of paid work, and usage counts.',
  'Health and description': 'Health and features.',
  'Administration (admin only)': 'For the operator of this marketplace.',
  Administration: 'For the operator of this marketplace.',
  'Discovery for agents': 'Services for sale, in formats for agents.',
  'Test money': 'Test money, on test chains.',
  Facilitator: 'Verify and settle x402 payments for other servers.',
  Pages: 'Pages for people.',
  Webhooks: 'Messages that this marketplace sends to the endpoints of participants.',
}

/** @throws Error for an undescribed section */
export function sectionText(section: string): string {
  const text = sectionTexts[section]
  if (text === undefined) throw new Error(`the section ${section} has no description`)
  return text
}

const doors: Readonly<Record<Exclude<Access['kind'], 'paid' | 'key_or_paid'>, string>> = {
  open: 'Open to everyone.',
  key: 'Needs an API key.',
  admin: 'Needs the key of the administrator.',
  token: 'Needs the token of this resource.',
  key_or_signed: 'Needs an API key, or a signature of the wallet.',
}

function doorText(endpoint: Endpoint): string {
  const { access } = endpoint
  if (!isPaid(endpoint) || access.kind === 'open') return doors[access.kind as keyof typeof doors] // the others are paid
  const price = endpoint.access.price === 'varies' ? 'a price stated by its 402' : formatPrice(endpoint.access.price)
  const means = 'x402Only' in endpoint.access && endpoint.access.x402Only ? 'by x402' : 'by x402 or from the balance'
  return endpoint.access.kind === 'key_or_paid'
    ? `Free for authorised callers; otherwise costs ${price}, ${means}.`
    : `Costs ${price}, ${means}.`
}

/** Description of an operation: effect, access, price. */
export function operationText(endpoint: Endpoint): string {
  const { summary, access } = endpoint
  const alternatives = [
    ...('orToken' in access && access.orToken ? ['The token of the job also works.'] : []),
    ...('orSignIn' in access && access.orSignIn ? ['A wallet sign-in also works.'] : []),
    ...('role' in access && access.role ? [`Only for role ${access.role}.`] : []),
  ]
  return [
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    doorText(endpoint),
    ...alternatives,
    ...(endpoint.feature
      ? [`Disabled during the checkout cutover: ${replacementOf(endpoint) ?? 'no replacement'}.`]
      : []),
  ].join(' ')
}

/** Descriptions of common parameters. If a schema has its own description, that one takes precedence. */
const parameterTexts: Readonly<Record<string, string>> = {
  bidId: 'id of the bid',
  category: 'only of this category',
  cursor: 'next_cursor of the previous page',
  extensions: 'only with this x402 extension',
  fileId: 'id of the file',
  fulfillment_type: 'only with this fulfillment type',
  jobId: 'id of the job',
  kind: 'only of this kind',
  level: 'only of this level or above',
  limit: 'maximum number of items on a page',
  min_reputation: 'only from providers with at least this score',
  name: 'its name',
  offset: 'number of items to skip',
  payTo: 'only with payments to this wallet',
  query: 'search terms',
  request: 'only of this request id',
  role: 'only with the caller in this role',
  root: 'root hash of the evidence',
  scheme: 'only of this x402 scheme',
  service_type: 'only of this type',
  slug: 'last part of the advertised path',
  sort: 'order of the list',
  source: 'only of this source',
  status: 'only of this status',
  tag: 'only with this tag',
  tier: 'only of this verification tier',
  token: 'token from the link',
  type: 'only of this type',
  wallet: 'address of the wallet',
}

/** @throws Error for an undescribed parameter */
export function parameterText(name: string, path: string): string {
  const text = name === 'id' ? `id of an entry of ${templatePath(path).split('/{')[0]}` : parameterTexts[name]
  if (text === undefined) throw new Error(`the parameter ${name} of ${path} has no description`)
  return text
}
