import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { participantDraft, serviceDraft } from '../../fixtures/rows.ts'
import type { DeliveryRow } from '../../src/model/delivery.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import type { ServiceRow } from '../../src/model/service.ts'
import { systemClock } from '../ports/clock.ts'
import { systemEntropy } from '../ports/entropy.ts'
import { openLog } from '../ports/log.ts'
import { openWeb } from '../ports/web.ts'
import { collections, deliveries, events, participants, services } from '../store/collections.ts'
import { commit } from '../store/draw.ts'
import { openLowdbStore } from '../store/lowdb/open.ts'
import type { Store } from '../store/port.ts'
import { openProvider, type Provider } from './provider.testkit.ts'
import { enqueue, type NewDelivery } from './queue.ts'
import { type DeliveryHooks, type DeliveryWorker, startDeliveries } from './worker.ts'

export const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
export const OWNER = participantDraft(1).id
export const LISTING = serviceDraft(1, 1).id
export const START = 1_000_000

/** A real store and worker, a provider over HTTP, and business time that moves when told. */
export type Deliveries = {
  store: Store
  worker: DeliveryWorker
  readonly provider: Provider
  now: () => number
  readonly parts: () => Omit<Parameters<typeof startDeliveries>[0], 'hooks'>
  readonly work: (hooks?: Partial<DeliveryHooks>) => Promise<void>
  readonly send: (over?: Partial<NewDelivery>) => Promise<DeliveryRow>
  readonly row: (sent: DeliveryRow) => Promise<DeliveryRow>
  readonly owner: (change: Partial<ParticipantRow>) => Promise<void>
  readonly listing: (change: Partial<ServiceRow>) => Promise<void>
  readonly eventTypes: () => Promise<string[]>
  readonly healthy: () => Promise<boolean | undefined>
  /** Moves business time on and lets everything that became due happen. */
  readonly pass: (ms: number) => Promise<void>
  /** Opens the store again: as it was left, or as it lies on disk while the process dies. */
  readonly reopen: (how: 'stopped' | 'crashed') => Promise<void>
  readonly close: () => Promise<void>
}

export async function openDeliveries(): Promise<Deliveries> {
  let now = START
  let dir = await mkdtemp(join(tmpdir(), 'souk-deliveries-'))
  const ended: (() => Promise<unknown>)[] = []
  const provider = await openProvider()
  const open = () => openLowdbStore({ dir, collections, durability: 'os', now: () => now, onFatal: () => undefined })
  const clock = { now: () => now, wall: systemClock.wall }
  const kit = { store: await open(), provider, now: clock.now } as Partial<Deliveries> as Deliveries // completed below
  const folder = dir
  ended.push(() => rm(folder, { recursive: true, force: true }))
  const parts = (): ReturnType<Deliveries['parts']> => ({
    store: kit.store,
    clock,
    entropy: systemEntropy(),
    log: openLog({ level: 'error' }),
    ticker: () => () => undefined,
    web: openWeb({ ownPort: () => 0, localWebhooks: true, wall: clock.wall }),
  })
  await kit.store.tx(async (t) => {
    await t.table(participants).insert({ ...participantDraft(1), webhook_url: provider.url, webhook_secret: SECRET })
    await t.table(services).insert({ ...serviceDraft(1, 1), webhook_healthy: true })
  })
  return Object.assign(kit, {
    parts,
    async work(hooks: Partial<DeliveryHooks> = {}) {
      kit.worker = await startDeliveries({ ...parts(), hooks: { isWanted: async () => true, ...hooks } })
    },
    async send(over: Partial<NewDelivery> = {}) {
      const row = await commit(parts(), (t, draw) => enqueue(t, draw, news(now, over)))
      if (!row) throw new Error('its receiver has no endpoint')
      return row
    },
    row: async ({ id }: DeliveryRow) => (await kit.store.table(deliveries).get(id)) as DeliveryRow,
    owner: (change: Partial<ParticipantRow>) =>
      kit.store.tx(async (t) => {
        const row = await t.table(participants).getForUpdate(OWNER)
        if (row) await t.table(participants).put({ ...row, ...change })
      }),
    listing: (change: Partial<ServiceRow>) =>
      kit.store.tx(async (t) => {
        const row = await t.table(services).getForUpdate(LISTING)
        if (row) await t.table(services).put({ ...row, ...change })
      }),
    eventTypes: async () => (await kit.store.table(events).page('seq', [], { limit: 100 })).rows.map((row) => row.type),
    healthy: async () => (await kit.store.table(services).get(LISTING))?.webhook_healthy,
    async pass(ms: number) {
      now += ms
      kit.worker.wake()
      await kit.worker.idle()
    },
    async reopen(how: 'stopped' | 'crashed') {
      const { worker, store } = kit
      if (how === 'stopped') {
        await worker.stop()
        await store.close()
      } else {
        const copy = await mkdtemp(join(tmpdir(), 'souk-deliveries-'))
        await cp(dir, copy, { recursive: true, filter: (path) => !path.includes('lock') })
        dir = copy
        ended.push(() => Promise.all([worker.stop(), store.close(), rm(copy, { recursive: true, force: true })]))
      }
      kit.store = await open()
    },
    async close() {
      await kit.worker.stop()
      await kit.store.close()
      await provider.close()
      for (const end of ended) await end()
    },
  })
}

export function news(now: number, over: Partial<NewDelivery> = {}): NewDelivery {
  return {
    participantId: OWNER,
    serviceId: LISTING,
    type: 'job_dispatch',
    data: { job_id: 'job_1', brief: { text: 'grüß dich' } },
    now,
    ...over,
  }
}
