import { randomBytes } from 'node:crypto'
import { CliError } from '../../cli/exit.ts'
import type { Play } from '../acts.ts'
import type { Opened } from '../cast.ts'
import { type Person, personOf, type Sink, type Stage } from '../hand.ts'
import type { EventSettings, Sayable } from './settings.ts'

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
  /** Id of something that is there already, which it is to be about. */
  readonly on?: string | undefined
  /** What is to be so. */
  readonly told: EventSettings
}

/** How an event is made to happen, or why nobody can make it. */
export type Situation =
  | (Sayable & {
      readonly make: (scene: Scene) => Promise<void>
      /** How far business time is moved for it, milliseconds. */
      readonly moves?: number
    })
  | { readonly why: string }

export type Registering = {
  readonly name?: string | undefined
  readonly type?: 'agent' | 'provider' | 'both'
  readonly hookUrl?: string
  readonly referralCode?: string
}

/** Somebody new who has registered. */
export async function visitor(
  scene: Scene,
  {
    name = `visitor-${randomBytes(NAME_BYTES).toString('hex')}`,
    type = 'agent',
    hookUrl,
    referralCode,
  }: Registering = {},
): Promise<Person> {
  const { stage, operator } = scene
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
export async function listingOf(
  seller: Person,
  { name = 'A word count', price = '0.50' }: EventSettings = {},
): Promise<string> {
  const body = { name, description: 'Counts words.', price, fulfillment_type: 'human' } as const
  return (await seller.call('createService', { body })).id
}

/** Somebody of the demo, by the id of their account. @throws CliError conflict for anybody else: they act for themselves */
export function ofCast({ cast }: Scene, id: string, does: string): Person {
  const found = Object.values(cast).find((one) => one.id === id)
  if (found) return found
  throw new CliError('conflict', `${id}, who ${does}, is not a demo user and must act themselves.`, {
    next: [`souk participants view ${id}`],
  })
}

/** A situation, with what can be said of it. */
export const made = (
  act: (scene: Scene) => Promise<unknown>,
  more: Sayable & { readonly moves?: number } = {},
): Situation => ({
  ...more,
  make: async (scene) => void (await act(scene)),
})

export const buyListing = async (buyer: Person, id: string) =>
  (await buyer.pay('purchaseService', { params: { id }, body: {} })).job_id
