import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Marketplace, openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { registered } from '../../../fixtures/market/people.ts'
import { createDaemon, replaceData } from '../../index.ts'

const path = '/dashboard/api/admin/backup'
let market: Marketplace
let dir: string
beforeAll(async () => {
  market = await openMarketplace({ durability: 'full' })
  dir = await mkdtemp(join(tmpdir(), 'souk-test-'))
})
afterAll(async () => {
  await market.close()
  await rm(dir, { recursive: true, force: true })
})

async function bytesOf(file: string): Promise<Response> {
  const { Authorization } = await adminHeaders()
  return fetch(`${market.url()}${file}`, { headers: { Authorization } })
}

async function adminHeaders(): Promise<{ Authorization: string }> {
  return { Authorization: `Bearer ${(await readFile(join(market.dir, 'admin.key'), 'utf8')).trim()}` }
}

describe('a backup', () => {
  test('of a running daemon, taken while it is written to, restores to a marketplace that agrees', async () => {
    const ann = await registered(market, { type: 'agent', name: 'Ann' })
    const [answer] = await Promise.all([bytesOf(path), ann.pay('/v1/balance/deposit?amount=1.00')])
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="souk-[\d-]+T[\d-]+\.\d+Z\.tar"$/)
    await writeFile(join(dir, 'b.tar'), Buffer.from(await answer.arrayBuffer()))
    expect((await readdir(market.dir)).filter((name) => name.startsWith('backup-'))).toEqual([])

    const restored = join(dir, 'restored')
    await replaceData(restored, join(dir, 'b.tar'))
    const daemon = await createDaemon({ ...market.config, dataDir: restored })
    try {
      const profile = await fetch(`${daemon.url}/v1/participants/${ann.id}`, { headers: { 'X-API-Key': ann.key } })
      expect(await profile.json()).toMatchObject({ participant_id: ann.id, name: 'Ann' })
    } finally {
      await daemon.stop()
    }
  })

  test('is sent once at a time, and is free again when its reader leaves', async () => {
    const leaving = new AbortController()
    const first = await fetch(`${market.url()}${path}`, { headers: await adminHeaders(), signal: leaving.signal })
    expect(first.status).toBe(200)
    leaving.abort()
    await expect.poll(async () => (await bytesOf(path)).status).toBe(200)
  })
})

describe('a file that is not a backup', () => {
  const tarOf = async (name: string) => {
    const tar = pack()
    tar.entry({ name }, 'x')
    tar.finalize()
    return buffer(tar)
  }
  test.each([
    ['noise', async () => Buffer.alloc(1_024, 'x')],
    ['a name that leads out', () => tarOf('../../outside')],
    ['an absolute name', () => tarOf('/etc/passwd')],
    ['a file that no store has', () => tarOf('deep/er/file')],
  ])('%s is refused, and nothing is written', async (name, content) => {
    const file = join(dir, 'no.tar')
    await writeFile(file, await content())
    const target = join(dir, `into-${name.replaceAll(' ', '-')}`)
    await expect(replaceData(target, file)).rejects.toThrow(/is not a backup/)
    expect(await readdir(target)).toEqual([])
  })
})
