import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { usdc } from '../../../src/core/money.ts'
import { DAY_MS } from '../../../src/core/time.ts'
import { ownCertificate } from '../../../src/lifecycle/certificate.ts'
import type { Context } from '../../kernel/context.ts'
import { installation } from '../../kernel/identity.ts'
import { kernelCollections } from '../../kernel/rows.ts'
import { openMemoryStore } from '../../store/memory/open.testkit.ts'
import { noteBackup } from '../backup/archive.ts'
import { attentionCollections } from './alarm-rows.ts'
import { openAlarms } from './alarms.ts'
import { upkeepOf } from './upkeep.ts'

/* What an operator has to keep up, told at the day on which it is due. */

const NOW = Date.UTC(2026, 5, 1)
const VALID_MS = 825 * DAY_MS
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-upkeep-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Change = {
  readonly mode?: 'base' | 'base-sepolia' | 'sandbox'
  readonly config?: object
  readonly balance?: bigint
}

async function look({ mode = 'sandbox', config = {}, balance = 0n }: Change, backupAt?: number) {
  const store = openMemoryStore([...kernelCollections, ...attentionCollections])
  const ctx = {
    ...{ store, config, clock: { now: () => NOW, wall: () => NOW }, resources: { closing: [] } },
    ...{ entropy: (count: number) => Buffer.alloc(count, 1) },
    chain: { mode, payTo: '0xaa', balanceOf: async () => balance },
  } as unknown as Context // as it needs
  installation.open(ctx, { instanceId: 'i', sealingSecret: 's' } as never)
  openAlarms(ctx, async () => ({ items: [], counts: {} }))
  if (backupAt !== undefined) await noteBackup(ctx, backupAt)
  const found = await upkeepOf(ctx, NOW)
  return found.flatMap(({ kind, items }) => items.map(({ grave, sentence }) => [kind, grave, sentence]))
}

test.each([
  [15, []],
  [13, [['certificate', false, expect.stringMatching(/ ends on 2026-06-14T/)]]],
  [-1, [['certificate', true, expect.stringMatching(/ ended on 2026-05-31T/)]]],
])('a certificate with %d days left', async (days, expected) => {
  const dataDir = await mkdtemp(join(folder, 'tls-'))
  const tls = await ownCertificate({ dataDir, host: '127.0.0.1', now: NOW - VALID_MS + days * DAY_MS })
  expect(await look({ config: { tls } })).toEqual(expected)
})

test.each<[string, [Change, number?], unknown[]]>([
  ['a trial without a backup', [{}], []],
  ['a trial with a backup of last month', [{}, 29], []],
  ['a trial with an older one', [{}, 31], [['backup', false, 'The last backup is 31 days old.']]],
  ['test money of a public chain without a backup', [{ mode: 'base-sepolia' }], []],
  ['real money without a backup', [{ mode: 'base' }], [['backup', true, 'There is no backup yet.']]],
  ['real money with one of yesterday', [{ mode: 'base' }, 1], []],
  ['real money with an older one', [{ mode: 'base' }, 3], [['backup', true, 'The last backup is 3 days old.']]],
])('%s', async (_, [change, days], expected) => {
  expect(await look(change, days === undefined ? undefined : NOW - days * DAY_MS)).toEqual(expected)
})

test('a balance is too much only above its ceiling', async () => {
  const config = { hotCeiling: usdc(5_000_000n) }
  expect(await look({ config, balance: 5_000_000n })).toEqual([])
  expect(await look({ config, balance: 5_000_001n })).toEqual([
    ['hot_balance', false, expect.stringContaining('$5.000001, more than --hot-ceiling 5.00')],
  ])
  expect(await look({ balance: 5_000_001n })).toEqual([])
})
