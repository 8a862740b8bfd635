import type { WireAnswer } from '../../api/index.ts'
import { text, time } from './read.ts'

/** Counts by name. */
export type NamedCounts = readonly (readonly [name: string, count: number])[]

type Answered = WireAnswer<'getHealth'>

/** Members of `/health` that the cockpit shows. */
export type HealthFacts = ReturnType<typeof readHealth>

export function readHealth(health: Answered) {
  const { launch, compliance, crons, endpoints } = health
  return {
    paused: health.paused,
    /** Business time. */
    pausedAt: time(health.paused_at),
    /** Why writes are refused; undefined while they are accepted. */
    refused: health.store.writes === 'accepted' ? undefined : text(health.store.note ?? 'writes are refused'),
    checkoutV2: health.checkout_v2,
    version: text(health.version),
    instanceId: text(health.instance_id),
    network: text(health.network),
    chain: text(health.chain.mode),
    payTo: text(health.pay_to),
    crons: Object.entries(crons).map(([name, cron]) => ({ ...cron, name: text(name) })),
    /** Refusals of the last 24 hours, by reason. */
    refusals: counts(launch.gate_refusals_24h),
    /** 410 responses in the last 24 hours: disabled area, count and callers. Areas without a 410 are omitted. */
    shelved: areaCounts(launch.shelved_410_24h),
    sdn: { stale: compliance.sdn.stale, lastChecked: time(compliance.sdn.last_checked) },
    endpoints: endpoints.map(readDoor),
  }
}

type Shelved = readonly [area: string, count: number, callers: NamedCounts]

function counts(byName: Readonly<Record<string, number>>): NamedCounts {
  return Object.entries(byName).flatMap(([name, count]) => (count === 0 ? [] : [[text(name), count] as const]))
}

function areaCounts(areas: Answered['launch']['shelved_410_24h']): readonly Shelved[] {
  return Object.entries(areas).flatMap(([area, byCaller]) => {
    const callers = counts(byCaller).toSorted(([, one], [, other]) => other - one)
    const sum = callers.reduce((all, [, count]) => all + count, 0)
    return sum === 0 ? [] : [[text(area), sum, callers] as const]
  })
}

export type Door = ReturnType<typeof readDoor>

function readDoor({ method, path, price, description, status }: Answered['endpoints'][number]) {
  return { method, path: text(path), price: text(price), description: text(description), status }
}
