import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { type CronFacts, readCronFacts } from './cron-facts.ts'
import { text, time } from './read.ts'

export type Door = {
  readonly method: string
  readonly path: string
  readonly price: string
  readonly description: string
  readonly status: 'live' | 'paused' | 'deferred'
}

/** Counts by name. */
export type NamedCounts = readonly (readonly [name: string, count: number])[]

/** Cockpit data of `/health`. */
export type HealthFacts = {
  readonly paused: boolean
  /** Business time. */
  readonly pausedAt: number | undefined
  /** Why writes are refused; undefined if accepted. */
  readonly refused: string | undefined
  readonly checkoutV2: boolean
  readonly version: string
  readonly instanceId: string
  readonly network: string
  readonly chain: string
  readonly payTo: string
  readonly crons: readonly CronFacts[]
  /** Refusals of 24 hours by reason. */
  readonly refusals: NamedCounts
  /** 410 responses of 24 hours by area and caller. */
  readonly shelved: readonly (readonly [area: string, count: number, callers: NamedCounts])[]
  readonly sdn: { readonly stale: boolean; readonly lastChecked: number | undefined }
  readonly endpoints: readonly Door[]
}

type Answered = WireAnswer<Api['getHealth']>

export function readHealth(health: Answered): HealthFacts {
  const { launch, compliance, crons, endpoints } = health
  return {
    paused: health.paused,
    pausedAt: time(health.paused_at),
    refused: health.store.writes === 'accepted' ? undefined : text(health.store.note ?? 'writes are refused'),
    checkoutV2: health.checkout_v2,
    version: text(health.version),
    instanceId: text(health.instance_id),
    network: text(health.network),
    chain: text(health.chain.mode),
    payTo: text(health.pay_to),
    crons: Object.entries(crons).map(([name, cron]) => readCronFacts(name, cron)),
    refusals: counts(launch.gate_refusals_24h),
    shelved: areaCounts(launch.shelved_410_24h),
    sdn: { stale: compliance.sdn.stale, lastChecked: time(compliance.sdn.last_checked) },
    endpoints: endpoints.map(readDoor),
  }
}

function counts(byName: Readonly<Record<string, number>>): NamedCounts {
  return Object.entries(byName).flatMap(([name, count]) => (count === 0 ? [] : [[text(name), count] as const]))
}

function areaCounts(areas: Answered['launch']['shelved_410_24h']): HealthFacts['shelved'] {
  return Object.entries(areas).flatMap(([area, byCaller]) => {
    const callers = counts(byCaller).toSorted(([, one], [, other]) => other - one)
    const sum = callers.reduce((all, [, count]) => all + count, 0)
    return sum === 0 ? [] : [[text(area), sum, callers] as const]
  })
}

function readDoor({ method, path, price, description, status }: Answered['endpoints'][number]): Door {
  return { method, path: text(path), price: text(price), description: text(description), status }
}
