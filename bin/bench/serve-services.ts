import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineBoard } from '../../daemon/engines/engines.ts'
import { firstPartyServices } from '../../daemon/features/first-party/index.ts'
import { services } from '../../daemon/features/listings/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { openFunctionWorld } from '../../fixtures/market/function-world.ts'
import type { Wallet } from '../../src/core/hex.ts'
import { usdc } from '../../src/core/money.ts'
import { boundHeapGrowth } from '../../src/lifecycle/memory.ts'
import { argument, serve } from './serve.ts'

const GRANT = usdc(500_000_000n)

// The real daemon with every engine that this machine has and the memory that it is given, and everything outside on
// loopback, in the same process.
boundHeapGrowth()
const { wallets } = argument<{ readonly wallets: readonly Wallet[] }>()
const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
const world = await openFunctionWorld()
const daemon = await createDaemon({ dataDir, ...configDefaults, durability: 'full' }, world.ports)
const { ctx } = daemon
const board = engineBoard.of(ctx)
await board.ready
for (const wallet of wallets) await ctx.chain.faucet?.({ wallet, amount: GRANT, nowMs: Date.now() })
const offered = [...firstPartyServices.values()].filter(({ needs }) => board.lacking(needs).length === 0)
const orders: { slug: string; id: string; input: unknown }[] = []
for (const { slug } of offered) {
  const { rows } = await ctx.store.table(services).page('slug', [slug], { limit: 1 })
  orders.push({ slug, id: rows[0]?.id ?? '', input: world.inputs[slug] ?? { data: 'hello' } })
}
serve({ url: daemon.url, orders: JSON.stringify(orders) }, async () => {
  await daemon.stop()
  await world.close()
  await rm(dataDir, { recursive: true, force: true })
})
