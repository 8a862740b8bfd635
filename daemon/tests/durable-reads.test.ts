import { expect, test } from 'vitest'
import { openMarketplace } from '../../fixtures/market/marketplace.ts'
import { writePlatform } from '../kernel/switches.ts'
import { type Disk, realDisk } from '../store/disk.ts'
import { commit } from '../store/draw.ts'

/** A disk whose syncs wait while the gate is closed. */
function gatedDisk(): { disk: Disk; close: () => void; open: () => void } {
  let gate: PromiseWithResolvers<void> | undefined
  return {
    close: () => {
      gate = Promise.withResolvers()
    },
    open: () => {
      gate?.resolve()
      gate = undefined
    },
    disk: {
      ...realDisk,
      open: async (...place) => {
        const file = await realDisk.open(...place)
        return {
          ...file,
          datasync: async () => {
            await gate?.promise
            await file.datasync()
          },
        }
      },
    },
  }
}

test('a read that saw what is not on disk yet is answered only when it is', async () => {
  const gated = gatedDisk()
  const market = await openMarketplace({ durability: 'full' }, { disk: gated.disk })
  try {
    gated.close()
    const events: string[] = []
    const written = commit(market.daemon.ctx, (t) => writePlatform(t, { checkout_v2: true })).then(() =>
      events.push('on disk'),
    )
    const read = market.admin('GET', '/dashboard/api/admin/features').then(({ body }) => {
      events.push('answered')
      return body
    })
    await new Promise((done) => setTimeout(done, 100))
    expect(events).toEqual([])
    gated.open()
    await Promise.all([written, read])
    expect(events).toEqual(['on disk', 'answered'])
  } finally {
    gated.open()
    await market.close()
  }
})
