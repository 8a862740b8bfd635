import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { settlements } from '../../daemon/features/facilitator/rows.ts'
import { createDaemon } from '../../daemon/index.ts'
import type { Config } from '../../daemon/kernel/config.ts'
import { configDefaults } from '../../fixtures/kit/config.ts'
import { askFor } from '../../fixtures/payments/facilitated.ts'
import { toWallet } from '../../src/core/hex.ts'
import { usdc } from '../../src/core/money.ts'
import { at } from '../../src/core/record.ts'
import type { Measured } from './report.ts'

const OPEN_ROWS = 1_000
const PAYERS = 16
const GRANT = usdc(50_000_000n)
const MAX_RESTART_MS = 2_000
const SHOP = toWallet(`0x${'a3'.repeat(20)}`)

/** A daemon with settlements that were begun and have no end: how long until it takes a new payment. */
export async function measureRestart(rpc: string): Promise<Measured> {
  const dataDir = await mkdtemp(join(tmpdir(), 'souk-bench-'))
  const { seed: _, ...rest } = configDefaults
  const config: Config = { ...rest, dataDir, durability: 'full', chain: 'devnet', chainSetup: { rpcUrls: [rpc] } }
  const payers = Array.from({ length: PAYERS }, () => privateKeyToAccount(generatePrivateKey()))
  try {
    await leaveOpen(config, payers)
    const started = performance.now()
    const daemon = await createDaemon(config)
    try {
      const open = await daemon.ctx.store.table(settlements).count('state', ['sent'])
      const asked = await askFor(daemon.ctx.chain, at(payers, 0), { version: 2, payTo: SHOP, amount: 1_000n })
      const body = JSON.stringify(asked)
      const headers = { 'Content-Type': 'application/json' }
      const answer = await fetch(`${daemon.url}/facilitator/settle`, { method: 'POST', headers, body })
      const taken = performance.now() - started
      const text = await answer.text()
      if (!text.includes('"success":true')) throw new Error(`the first payment was not taken: ${text}`)
      return {
        name: `restart to first payment, ${OPEN_ROWS} settlements open`,
        values: [taken],
        unit: 'ms',
        budget: { atMost: MAX_RESTART_MS },
        detail: `${open} were open still when it listened`,
      }
    } finally {
      await daemon.stop()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Rows as a process leaves them that ended right after it wrote them down. */
async function leaveOpen(config: Config, payers: readonly ReturnType<typeof privateKeyToAccount>[]): Promise<void> {
  const daemon = await createDaemon(config)
  try {
    const { chain, store, clock } = daemon.ctx
    for (const { address } of payers) {
      await chain.faucet?.({ wallet: toWallet(address), amount: GRANT, nowMs: Date.now() })
    }
    for (let n = 0; n < OPEN_ROWS; n += 1) {
      const { paymentPayload } = await askFor(chain, at(payers, n % PAYERS), {
        version: 2,
        payTo: SHOP,
        amount: 1_000n,
      })
      const { signature, authorization } = paymentPayload.payload
      const nonce = authorization['nonce'] as `0x${string}` // askFor made it
      const payer = toWallet(at(payers, n % PAYERS).address)
      const validBefore = BigInt(authorization['validBefore'] ?? 0)
      await store.tx((t) =>
        t.table(settlements).insert({
          ...{ id: `${chain.network}:${chain.asset.address}:${payer}:${nonce}`, seller: 'local', requirement: '' },
          ...{ state: 'sent', x402_version: 2, payer, pay_to: SHOP, amount: usdc(1_000n), nonce, signature },
          ...{ valid_after: 0n, valid_before: validBefore, resource: null, transaction: null },
          ...{ needed_until: Number(validBefore) * 1_000, created_at: clock.wall(), settled_at: null, handed_at: null },
        }),
      )
    }
  } finally {
    await daemon.stop()
  }
}
