import { expect, test } from 'vitest'
import { hasPostgres, startPostgres, UNSAFE } from '../../fixtures/kit/postgres.ts'
import { openMarketplace } from '../../fixtures/market/marketplace.ts'

// @slow a database of its own, which goes away

test.skipIf(!hasPostgres())('while its database is away a daemon is alive and not ready, and says why', async () => {
  const server = await startPostgres(UNSAFE)
  const market = await openMarketplace({ store: `postgres://souk@/postgres?host=${server.folder}&schema=away` })
  const probe = async (path: string) => {
    const answer = await fetch(`${market.url()}${path}`)
    return [answer.status, answer.headers.has('retry-after'), await answer.text()] as const
  }
  try {
    expect((await probe('/ready'))[0]).toBe(200)
    await server.stop()
    await expect.poll(async () => (await probe('/ready')).slice(0, 2)).toEqual([503, true])
    expect((await probe('/ready'))[2]).toContain('The database does not answer.')
    expect((await probe('/live'))[0]).toBe(200)
  } finally {
    await market.close()
  }
})
