import { DAY_MS } from '../../core/time.ts'
import { consented, fileOf } from '../acts.ts'
import type { Person } from '../hand.ts'
import { buyListing, listingOf, made, type Scene, type Situation, visitor } from './scene.ts'

/** HTTP status "gone". */
export const GONE = 410

const arrived = (scene: Scene): Promise<Person> =>
  visitor(scene, { name: scene.told.name, type: scene.told.role ?? 'agent' })

async function edited(scene: Scene): Promise<void> {
  const who = await visitor(scene)
  await who.call('updateParticipant', { params: { id: who.id }, body: { description: 'New here.' } })
}

async function agreed(scene: Scene): Promise<void> {
  const who = await visitor(scene)
  const { version } = await who.call('getTerms', {})
  await who.call('acceptTerms', { body: { version } })
}

async function linked(scene: Scene): Promise<void> {
  const who = await visitor(scene)
  const { identity } = await scene.operator.call('faucet', {
    body: { wallet: who.address, amount: '0.01', identity: true },
  })
  if (identity) await who.call('linkIdentity', { body: identity })
}

const consent = async (scene: Scene) => consented(await visitor(scene), 'Vera Winter')

const decided = (decision: 'approved' | 'rejected') => async (scene: Scene) => {
  const params = { id: await consent(scene) }
  await scene.operator.call('decideVerification', { params, body: { decision, reason: 'The vendor says so.' } })
}

async function forgotten(scene: Scene): Promise<void> {
  await consent(scene)
  await scene.advance(2 * DAY_MS)
}

async function deposited(scene: Scene): Promise<Person> {
  const who = await visitor(scene)
  await who.pay('deposit', { body: { amount: scene.told.amount ?? '5.00' } })
  return who
}

async function withdrawn(scene: Scene): Promise<Person> {
  const who = await deposited(scene)
  await who.call('withdrawBalance', { body: { amount: scene.told.amount ?? '2.00' } })
  return who
}

const payOut = ({ operator }: Scene) => operator.call('runCron', { params: { name: 'provider-settlement' } })

async function arrivedMoney(scene: Scene): Promise<void> {
  await withdrawn(scene)
  await payOut(scene)
}

/** Sanctions the owner of a withdrawal, so that the withdrawal fails and its amount returns to the balance. */
async function withdrawalFails(scene: Scene): Promise<void> {
  const who = await withdrawn(scene)
  await sanctioned(scene, who, () => payOut(scene))
}

/** Sanctions a seller while its earnings are paid out, which puts them on hold until the next payout run. */
export async function earningsBlocked(scene: Scene): Promise<void> {
  const seller = await visitor(scene, { type: 'provider' })
  const file = await page(scene)
  const { id } = await seller.call('createProduct', { body: { name: 'A page', price: '1.00' }, file })
  await (await visitor(scene)).pay('purchaseProduct', { params: { id }, body: {} })
  await sanctioned(scene, seller, () => payOut(scene))
}

async function earningsUnblocked(scene: Scene): Promise<void> {
  await earningsBlocked(scene)
  await payOut(scene)
}

function page({ play }: Scene) {
  return fileOf(play, 'page.txt', 'A page.\n')
}

async function sanctioned(
  { operator }: Scene,
  { address: wallet }: Person,
  act: () => Promise<unknown>,
): Promise<void> {
  await operator.call('addSanction', { body: { wallet, reason: 'A letter of our bank.' } })
  try {
    await act()
  } finally {
    await operator.call('removeSanction', { params: { wallet } })
  }
}

/** Adjusts the balance of the given user, or reduces the balance of a new user. */
async function adjusted(scene: Scene): Promise<void> {
  const { on, told } = scene
  const id = on ?? (await deposited(scene)).id
  const amount = on === undefined ? `-${told.amount ?? '1.00'}` : (told.amount ?? '1.00')
  const body = { amount, reason: told.reason ?? 'Credited twice by mistake.' }
  await scene.operator.call('adjustBalance', { params: { id }, body })
}

/** A user refers two others, who then trade at `prices`. @returns the referrer */
async function rewarded({ cast, operator, ...scene }: Scene, prices: readonly string[]): Promise<Person> {
  const all: Scene = { cast, operator, ...scene }
  const referrer = await visitor(all)
  const { referral_code: referralCode } = await referrer.call('getReferralCode', {})
  const seller = await visitor(all, { type: 'provider', referralCode })
  const buyer = await visitor(all, { referralCode })
  await operator.call('faucet', { body: { wallet: buyer.address, amount: '900.00' } })
  for (const price of prices) {
    const file = await page(all)
    const { id } = await seller.call('createProduct', { body: { name: 'A page', price }, file })
    await buyer.pay('purchaseProduct', { params: { id }, body: {} })
  }
  await operator.call('runCron', { params: { name: 'referral-rewards' } })
  return referrer
}

async function rewardTaken(scene: Scene): Promise<void> {
  const referrer = await rewarded(scene, ['400.00'])
  await referrer.call('withdrawReferrals', { body: { to: 'balance' } })
}

/** Sells to an endpoint that responds with a status. @returns the seller */
export async function soldTo(scene: Scene, status: number): Promise<Person> {
  const sink = await scene.sink(status)
  const seller = await visitor(scene, { type: 'provider' })
  const service = await listingOf(seller)
  await seller.call('updateParticipant', { params: { id: seller.id }, body: { webhook_url: sink.url } })
  await buyListing(await visitor(scene), service)
  return seller
}

const goneEndpoint = (scene: Scene) => soldTo(scene, GONE)

export const peopleSituations = {
  'participant.registered': made(arrived, { sets: ['name', 'role'] }),
  'participant.updated': made(edited),
  'participant.key_rotated': made(async (scene) => await (await visitor(scene)).pay('rotateKey', {})),
  'terms.accepted': made(agreed),
  'identity.linked': made(linked),
  'identity.unlinked': { why: 'it needs the sale of an identity on a chain, which the sandbox does not have' },
  'verification.pending_consent': made(consent),
  'verification.vendor_pending': made(consent),
  'verification.approved': made(decided('approved')),
  'verification.rejected': made(decided('rejected')),
  'verification.expired': made(forgotten, { moves: 2 * DAY_MS }),
  'balance.deposited': made(deposited, { sets: ['amount'] }),
  'balance.withdrawn': made(withdrawn, { sets: ['amount'] }),
  'admin.balance_adjusted': made(adjusted, { about: ['participant'], sets: ['amount', 'reason'] }),
  'referral.due': made((scene) => rewarded(scene, ['5.00'])),
  'referral.withdrawn': made(rewardTaken),
  'payout.confirmed': made(arrivedMoney, { sets: ['amount'] }),
  'payout.failed': made(withdrawalFails, { sets: ['amount'] }),
  'payout.blocked': made(earningsUnblocked),
  'payout.unblocked': made(earningsUnblocked),
  'webhook.failed': made(goneEndpoint),
  'webhook.disabled': made(goneEndpoint),
} as const satisfies Readonly<Record<string, Situation>>
