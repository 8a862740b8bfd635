import type { Outcome, Problem } from '../../client/link.ts'
import { type CronFacts, readCronFacts } from './cron-facts.ts'
import { fields, list, number, oneOf, text, time } from './read.ts'

export type Door = {
  readonly method: string
  readonly path: string
  readonly price: string
  readonly description: string
  readonly status: 'live' | 'paused' | 'deferred'
}

/** What the cockpit takes from `/health`. */
export type Health = {
  readonly paused: boolean
  /** Business time. */
  readonly pausedAt: number | undefined
  readonly checkoutV2: boolean
  readonly version: string
  readonly instanceId: string
  readonly network: string
  readonly chain: string
  readonly payTo: string
  readonly crons: readonly CronFacts[]
  /** Refusals of the last 24 hours, by reason. */
  readonly refusals: readonly (readonly [reason: string, count: number])[]
  /** Answers of 410 in the last 24 hours, by shelved area; areas without any are left out. */
  readonly shelved: readonly (readonly [area: string, count: number])[]
  readonly sdn: { readonly stale: boolean; readonly lastChecked: number | undefined }
  readonly endpoints: readonly Door[]
}

/** An answer without the members that every instance of ours sends is from somebody else. */
export function readHealth(body: unknown): Outcome<Health> {
  const health = fields(body)
  if (typeof health.paused !== 'boolean' || typeof health.instance_id !== 'string')
    return { ok: false, problem: stranger }
  const launch = fields(health.launch)
  const sdn = fields(fields(health.compliance).sdn)
  return {
    ok: true,
    value: {
      paused: health.paused,
      pausedAt: time(health.paused_at),
      checkoutV2: health.checkout_v2 === true,
      version: text(health.version),
      instanceId: text(health.instance_id),
      network: text(health.network),
      chain: text(fields(health.chain).mode),
      payTo: text(health.pay_to),
      crons: Object.entries(fields(health.crons)).map(([name, cron]) => readCronFacts(name, cron)),
      refusals: counts(fields(launch.gate_refusals_24h)),
      shelved: areaCounts(fields(launch.shelved_410_24h)),
      sdn: { stale: sdn.stale === true, lastChecked: time(sdn.last_checked) },
      endpoints: list(health.endpoints).map(readDoor),
    },
  }
}

const stranger: Problem = {
  kind: 'failed',
  sentence: 'What answers there is no souk, or one of another time.',
  facts: ['/health has no instance_id'],
  next: ['souk status'],
}

function counts(byName: Readonly<Record<string, unknown>>): (readonly [string, number])[] {
  return Object.entries(byName).flatMap(([name, value]) => {
    const count = number(value)
    return count === undefined || count === 0 ? [] : [[text(name), count] as const]
  })
}

function areaCounts(areas: Readonly<Record<string, unknown>>): (readonly [string, number])[] {
  return Object.entries(areas).flatMap(([area, byCaller]) => {
    const sum = counts(fields(byCaller)).reduce((all, [, count]) => all + count, 0)
    return sum === 0 ? [] : [[text(area), sum] as const]
  })
}

function readDoor(value: unknown): Door {
  const door = fields(value)
  return {
    method: text(door.method),
    path: text(door.path),
    price: text(door.price),
    description: text(door.description),
    status: oneOf(['live', 'paused', 'deferred'], door.status, 'live'),
  }
}

/** Doors that take money: the ones that a pause closes. */
export function paidDoors(health: Health): readonly Door[] {
  return health.endpoints.filter(({ price }) => price !== 'free')
}

export function doorCounts(health: Health): Readonly<Record<Door['status'], number>> {
  const of = (status: Door['status']) => health.endpoints.filter((door) => door.status === status).length
  return { live: of('live'), paused: of('paused'), deferred: of('deferred') }
}
