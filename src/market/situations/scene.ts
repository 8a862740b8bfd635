import { randomBytes } from 'node:crypto'
import { type Play, report } from '../acts.ts'
import type { Opened } from '../cast.ts'
import { type Person, personOf, type Stage } from '../hand.ts'
import type { Sink } from '../sink.ts'

const KEY_BYTES = 32
const NAME_BYTES = 3
const FUNDS = '60.00'

/** What a situation is made with. */
export type Scene = Opened & {
  readonly play: Play
  readonly stage: Stage
  /** Moves business time, with what falls due on the way. */
  readonly advance: (ms: number) => Promise<void>
  /** An endpoint that is there until the situation is over. */
  readonly sink: (status?: number) => Promise<Sink>
}

/** How an event is made to happen, or why nobody can make it. */
export type Situation =
  | {
      readonly make: (scene: Scene) => Promise<void>
      /** How far business time is moved for it, milliseconds. */
      readonly moves?: number
    }
  | { readonly why: string }

export type Registering = {
  readonly type?: 'agent' | 'provider' | 'both'
  readonly hookUrl?: string
  readonly referralCode?: string
}

/** Somebody new who has registered. */
export async function visitor(
  scene: Scene,
  { type = 'agent', hookUrl, referralCode }: Registering = {},
): Promise<Person> {
  const { stage, operator } = scene
  const name = `visitor-${randomBytes(NAME_BYTES).toString('hex')}`
  const secret = `0x${randomBytes(KEY_BYTES).toString('hex')}` as const
  const stranger = await personOf(stage, { name, secret, id: '', key: '' })
  await operator.call('faucet', { body: { wallet: stranger.address, amount: FUNDS } })
  const { participant_id: id, api_key: key } = await stranger.pay('register', {
    body: {
      name,
      type,
      ...(hookUrl === undefined ? {} : { webhook_url: hookUrl }),
      ...(referralCode === undefined ? {} : { referral_code: referralCode }),
    },
  })
  return personOf(stage, { name, secret, id, key: key ?? '' })
}

/** A listing of somebody new. @returns its id */
export async function listingOf(seller: Person): Promise<string> {
  const body = { name: 'A word count', description: 'Counts words.', price: '0.50', fulfillment_type: 'human' } as const
  return (await seller.call('createService', { body })).id
}

export const buyListing = async (buyer: Person, id: string) =>
  (await buyer.pay('purchaseService', { params: { id }, body: {} })).job_id

export const begin = (play: Play, job: string) => report(play, { job, ware: 'audit' }, { status: 'in_progress' })
