import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configDefaults } from '../../../fixtures/kit/config.ts'
import { noPrograms } from '../../../fixtures/market/marketplace.ts'
import type { Config } from '../../../src/model/start.ts'
import { createDaemon } from '../../index.ts'
import type { Store } from '../../store/port.ts'
import { services } from '../listings/rows.ts'

// @slow a start that dies at each of its writes

/** A start takes fewer transactions than this, or the test itself has gone wrong. */
const MAX_STEPS = 60
const { seed: _, ...unseeded } = configDefaults
const engines = noPrograms

/** A store whose process dies at a transaction of its start, before or after it is written. */
function dying(store: Store, at: number, side: 'before' | 'after'): { store: Store; died: () => boolean } {
  let steps = 0
  const die = () => {
    throw new Error('the process died')
  }
  return {
    died: () => steps >= at,
    store: {
      ...store,
      tx: async (body) => {
        steps += 1
        if (steps > at || (steps === at && side === 'before')) die()
        const result = await store.tx(body)
        return steps === at ? die() : result
      },
    },
  }
}

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-seed-'))
  try {
    await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function started(config: Config): Promise<number> {
  const daemon = await createDaemon(config, { engines })
  const { rows } = await daemon.ctx.store.table(services).page('slug', [], { limit: 100 })
  await daemon.stop()
  return rows.length
}

test.each(['before', 'after'] as const)(
  'a first start that dies %s any of its writes is made good by the next',
  (side) =>
    withFolder(async (parent) => {
      for (let step = 1; step <= MAX_STEPS; step += 1) {
        const config: Config = { ...unseeded, seedOfNew: 'house', dataDir: join(parent, String(step)) }
        let died = () => false
        const first = createDaemon(config, {
          engines,
          store: (store) => {
            const dead = dying(store, step, side)
            died = dead.died
            return dead.store
          },
        })
        await first.then((daemon) => daemon.stop()).catch(() => undefined)
        expect(await started(config), `step ${step}`).toBe(32)
        if (!died()) return
      }
      throw new Error(`a first start takes more than ${MAX_STEPS} steps`)
    }),
)

test('a store that was to be empty stays empty, whoever starts it later', () =>
  withFolder(async (dataDir) => {
    expect(await started({ ...unseeded, dataDir })).toBe(0)
    expect(await started({ ...unseeded, seedOfNew: 'house', dataDir })).toBe(0)
    expect(await started({ ...unseeded, seed: 'house', dataDir })).toBe(32)
  }))
