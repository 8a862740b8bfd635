import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { services } from '../../daemon/features/listings/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import type { Wallet } from '../../src/core/hex.ts'
import { usdc } from '../../src/core/money.ts'
import { argument, serve } from './serve.ts'

const GRANT = usdc(50_000_000n)

// The real daemon over a real EVM, durable, its own sales settled by the queue inside, and a facilitator for others.
const { wallets, rpc } = argument<{ readonly wallets: readonly Wallet[]; readonly rpc: string }>()
const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
const clear = () => rm(dataDir, { recursive: true, force: true })
try {
  const daemon = await createDaemon({
    ...configDefaults,
    dataDir,
    durability: 'full',
    chain: 'devnet',
    chainSetup: { rpcUrls: [rpc] },
  })
  const { chain, store } = daemon.ctx
  await Promise.all(wallets.map((wallet) => chain.faucet?.({ wallet, amount: GRANT, nowMs: Date.now() })))
  const { rows } = await store.table(services).page('slug', ['qr_code'], { limit: 1 })
  serve({ url: daemon.url, asset: chain.asset.address, qr: rows[0]?.id ?? '' }, async () => {
    await daemon.stop()
    await clear()
  })
} catch (error) {
  await clear()
  throw error
}
