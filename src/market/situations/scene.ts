import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../../cli/exit.ts'
import type { Play } from '../acts.ts'
import type { Opened } from '../cast.ts'
import { type Person, personOf, type Sink, type Stage } from '../hand.ts'
import type { EventSettings, Sayable } from './settings.ts'

const KEY_BYTES = 32
const NAME_BYTES = 3
const FUNDS = '60.00'

export type Scene = Opened & {
  readonly play: Play
  readonly stage: Stage
  /** Advances business time. */
  readonly advance: (ms: number) => Promise<void>
  /** A temporary endpoint. */
  readonly sink: (status?: number) => Promise<Sink>
  /** Id of an existing object to use. */
  readonly on?: string | undefined
  /** Given settings. */
  readonly told: EventSettings
}

export type Makeable = Sayable & {
  readonly make: (scene: Scene) => Promise<void>
  /** Milliseconds of business time that the situation needs. */
  readonly moves?: number
}

/** How to cause an event or a problem, or why it is impossible and what to look at instead. */
export type Situation = Makeable | { readonly why: string; readonly next?: string }

export type Registering = {
  readonly name?: string | undefined
  readonly type?: 'agent' | 'provider' | 'both'
  readonly hookUrl?: string
  readonly referralCode?: string
}

/** Registers a new user with test money. */
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

/** A new user's listing. @returns its id */
export async function listingOf(
  seller: Person,
  { name = 'A word count', price = '0.50' }: EventSettings = {},
): Promise<string> {
  const body = { name, description: 'Counts words.', price, fulfillment_type: 'human' } as const
  return (await seller.call('createService', { body })).id
}

/** A demo user by account id. @throws CliError conflict for any other user, whose key this machine does not have */
export function ofCast({ cast }: Scene, id: string, does: string): Person {
  const found = Object.values(cast).find((one) => one.id === id)
  if (found) return found
  throw new CliError('conflict', `This machine can act only for demo users, but ${id} ${does}.`, {
    next: [`souk participants view ${id}`],
  })
}

/** A situation with its settings. */
export const made = (act: (scene: Scene) => Promise<unknown>, more: Omit<Makeable, 'make'> = {}): Makeable => ({
  ...more,
  make: async (scene) => void (await act(scene)),
})

export const buyListing = async (buyer: Person, id: string) =>
  (await buyer.pay('purchaseService', { params: { id }, body: {} })).job_id

const LOOKS_MAX = 300
const LOOK_MS = 100

/** Looks again and again. @throws Error if nothing is found in half a minute */
export async function found<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const one = await look()
    if (one !== undefined) return one
    await sleep(LOOK_MS)
  }
  throw new Error(`${what} did not come`)
}
