import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { services } from '../../daemon/features/listings/rows.ts'
import { insertParticipant } from '../../daemon/features/participants/routes.ts'
import { createDaemon, type Daemon } from '../../daemon/index.ts'
import type { Ports } from '../../daemon/outside.ts'
import { commit } from '../../daemon/store/draw.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { toWallet, type Wallet } from '../../src/core/hex.ts'
import { usdc } from '../../src/core/money.ts'
import { argument, serve } from './serve.ts'

const MAX_LISTINGS = 100
const GRANT = usdc(100_000_000n)

// The real daemon over a temporary folder, durable, with a full catalog page and funded wallets.
type Argument = {
  readonly wallets: readonly Wallet[]
  /** Port on loopback that every host name leads to, in the place of the internet. */
  readonly sitePort?: number
}
const { wallets, sitePort } = argument<Argument>()
const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
const clear = () => rm(dataDir, { recursive: true, force: true })
try {
  const config = {
    dataDir,
    ...configDefaults,
    durability: 'full',
  } as const
  const daemon = await createDaemon(config, sitePort === undefined ? {} : { web: toSite(sitePort) })
  await showAllListings(daemon)
  for (const wallet of wallets) await daemon.ctx.chain.faucet?.({ wallet, amount: GRANT, nowMs: Date.now() })
  const sellerKey = await seller(daemon)
  const [qr, summary] = [await listing(daemon, 'qr_code'), await listing(daemon, 'summarization')]
  serve({ url: daemon.url, sellerKey, qr, summary }, async () => {
    await daemon.stop()
    await clear()
  })
} catch (error) {
  await clear()
  throw error
}

function toSite(port: number): NonNullable<Ports['web']> {
  return { resolve: async () => [{ address: '127.0.0.1', family: 4 }], exempt: (place) => place.port === port }
}

/** Listings that nothing fulfils are inactive; a page of the catalog has to be a full one. */
async function showAllListings({ ctx }: Daemon): Promise<void> {
  const hidden = await ctx.store.table(services).page('status', ['inactive'], { limit: MAX_LISTINGS })
  await commit(ctx, async (t) => {
    for (const { id } of hidden.rows) {
      const row = await t.table(services).getForUpdate(id)
      if (row) await t.table(services).put({ ...row, status: 'active' })
    }
  })
}

/** Somebody who may upload. @returns the API key */
async function seller({ ctx }: Daemon): Promise<string> {
  const registration = { name: 'a seller', type: 'provider' } as const
  const wallet = toWallet(`0x${'5e'.repeat(20)}`)
  const now = ctx.clock.now()
  const { secrets } = await commit(ctx, (t, draw) => insertParticipant(t, draw, { registration, wallet, now }))
  return secrets.apiKey
}

async function listing({ ctx }: Daemon, slug: string): Promise<string> {
  const page = await ctx.store.table(services).page('slug', [slug], { limit: 1 })
  return page.rows[0]?.id ?? ''
}
