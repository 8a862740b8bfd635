import { isAbsolute, join, resolve } from 'node:path'
import { chainNetworks } from '../../../../../src/core/authorization.ts'
import { AppError } from '../../../../../src/core/error.ts'
import type { Wallet } from '../../../../../src/core/hex.ts'
import { quoteWindowSeconds } from '../../../../../src/core/limits.ts'
import { usdc, ZERO } from '../../../../../src/core/money.ts'
import { compact } from '../../../../../src/core/record.ts'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import { type KeyRole, keyStates } from '../../../../../src/model/payment.ts'
import { everyRow } from '../../../../store/each-page.ts'
import type { ReadTx, Tx } from '../../../../store/port.ts'
import type { OperatorKey, OperatorKeys } from '../../chain.ts'
import type { Signer } from '../../key.ts'
import type { EvmChain, EvmDeployment } from '../open.ts'
import { move, type PayToKey } from '../settlement.ts'
import { deploy, planOwn } from './contracts.ts'
import { CHAIN_FOLDER, type EvmStart, externalSigner, keyIn, ownKey } from './keys.ts'
import { type ChainHomeRow, chainHomes, type OperatorKeyRow, operatorKeys } from './rows.ts'

const KEYS = 100
/** Source of a key that an external signer has. */
const SIGNER = 'signer'
/** Name in `chain_homes.contracts` of the escrow contract that pays to a replaced address. */
const escrowName = (payTo: Wallet) => `escrow:${payTo}`

type Keyed = { readonly chain: EvmChain; readonly deployment: EvmDeployment; readonly row: ChainHomeRow }

/** Keys in order of state, then newest first. */
async function allKeys(t: ReadTx, role?: KeyRole): Promise<OperatorKeyRow[]> {
  const rows = await everyRow(t.table(operatorKeys), { index: 'newest', prefix: [], limit: KEYS })
  const own = rows.filter((row) => role === undefined || row.role === role)
  return own.sort((a, b) => keyStates.indexOf(a.state) - keyStates.indexOf(b.state))
}

/** Opens the signer of a stored key. */
async function signerOf(start: EvmStart, { id, source }: { id?: Wallet; source: string }): Promise<Signer> {
  const { mode, dataDir, entropy, setup } = start
  if (source === SIGNER && id) return externalSigner(start, 'pay-to', id)
  const passphrase = setup.passphrase?.()
  if (mode === 'devnet') return ownKey(join(dataDir, CHAIN_FOLDER, source), entropy, passphrase)
  return keyIn(source, 'The key file', { owner: id, passphrase })
}

/** The pay-to keys of a chain whose first one was replaced; undefined before a rotation. */
export async function rotatedPayTo(
  start: EvmStart,
  home: ChainHomeRow,
): Promise<{ readonly payTo: Signer; readonly former: readonly PayToKey[] } | undefined> {
  const rows = await start.store.read((t) => allKeys(t, 'pay_to'))
  const current = rows.find(({ id, state }) => id === home.pay_to && state === 'current')
  if (!current) return undefined
  const former = rows.filter(({ state }) => state === 'retiring')
  const { mode, setup } = start
  const file = mode === 'devnet' ? undefined : setup.payToKeyFile
  // The operator may have moved the new key since, and names its file.
  const named =
    file === undefined ? undefined : await keyIn(file, '--pay-to-key-file', { passphrase: setup.passphrase?.() })
  return {
    payTo: named?.address === current.id ? named : await signerOf(start, current),
    former: await Promise.all(
      former.map(async (row) => ({
        ...{ address: row.id, until: row.until ?? 0, key: await signerOf(start, row) },
        escrow: home.contracts[escrowName(row.id)],
      })),
    ),
  }
}

/** Rotation of the keys of a running chain. Every step is durable before the next one. */
export function openOperatorKeys(start: EvmStart, keyed: Keyed): OperatorKeys {
  const { store, wall } = start
  return {
    list: async () => (await store.read((t) => allKeys(t))).map(shown),
    prepare: async ({ role, source }) => shown(await prepare(start, keyed, { role, source })),
    markLeaked: (address) =>
      change(start, address, (row) => ({ ...row, leaked: true, ...(row.until && { until: wall() }) })).then(() =>
        closeWindow(keyed, address, wall()),
      ),
    replace: () => replacePayTo(start, keyed),
    sweep: (address, keep) => sweep(start, keyed, { address, keep }),
    retire: async (address) => {
      await change(start, address, (row) => ({ ...row, state: 'retired', since: wall() }))
      const { ring } = keyed.chain
      ring.all = ring.all.filter((one) => one.address !== address)
    },
  }
}

function shown({ id: address, role, state, since, until, leaked, swept }: OperatorKeyRow): OperatorKey {
  return { address, role, state, since, until: until ?? null, leaked: leaked === true, swept }
}

function closeWindow({ chain: { ring } }: Keyed, address: Wallet, now: number): void {
  ring.all = ring.all.map((one) => (one.address === address && one.until < Infinity ? { ...one, until: now } : one))
}

function change({ store }: EvmStart, address: Wallet, to: (row: OperatorKeyRow) => OperatorKeyRow): Promise<void> {
  return store.tx(async (t) => {
    const row = await t.table(operatorKeys).getForUpdate(address)
    if (row) await t.table(operatorKeys).put(to(row))
  })
}

type Preparing = { readonly role: KeyRole; readonly source: string | undefined }

async function prepare(start: EvmStart, { chain }: Keyed, { role, source }: Preparing): Promise<OperatorKeyRow> {
  const { store, wall } = start
  const known = await store.read((t) => allKeys(t))
  const next = known.find((row) => row.role === role && row.state === 'next')
  if (next) return next
  const current = chain.payTo
  const given = start.mode === 'devnet' ? `pay-to-${Math.max(known.length, 1) + 1}.key` : fileIn(source)
  const { address } = await signerOf(start, { source: given })
  if (known.some(({ id }) => id === address) || address === current || address === chain.queue.status().signer) {
    throw new AppError('conflict', `key_file: ${address} is or was a key of this marketplace; use a new key.`)
  }
  const fresh = { role, sweeps: 0, swept: ZERO }
  return store.tx(async (t) => {
    const table = t.table(operatorKeys)
    if (!(await table.getForUpdate(current))) {
      await table.put({ ...fresh, id: current, state: 'current', since: 0, source: firstSource(start) })
    }
    await table.getForUpdate(address)
    return table.put({ ...fresh, id: address, state: 'next', since: wall(), source: given })
  })
}

function fileIn(source: string | undefined): string {
  if (source !== undefined && isAbsolute(source)) return source
  throw new AppError('invalid_request', 'key_file: required: the absolute path of the new key on the daemon’s machine.')
}

function firstSource({ mode, setup }: EvmStart): string {
  if (setup.payToAddress !== undefined) return SIGNER
  return mode === 'devnet' ? 'pay-to.key' : resolve(setup.payToKeyFile ?? '')
}

/** Deploys the new address's escrow contract, then quotes the address. */
async function replacePayTo(start: EvmStart, { chain, deployment, row }: Keyed): Promise<void> {
  const { store, wall, mode } = start
  const next = (await store.read((t) => allKeys(t, 'pay_to'))).find(({ state }) => state === 'next')
  if (!next) return
  const roles = { sender: chain.queue.status().signer, payTo: next.id, salt: row.salt }
  const plan = { escrow: planOwn(roles, deployment.asset).escrow }
  await deploy(plan, chain)
  const key = await signerOf(start, next)
  const escrow = plan.escrow.address
  const at = await store.tx(async (t) => {
    const now = wall()
    const old = await takePlace(t, next.id, now)
    const home = await t.table(chainHomes).getForUpdate('chain')
    if (!home || !old) throw new Error(`${chainNetworks[mode]} has no key to replace`)
    const before = compact({ [escrowName(old.id)]: home.contracts['escrow'] })
    await t.table(chainHomes).put({ ...home, pay_to: next.id, contracts: { ...home.contracts, ...before, escrow } })
    return old.until ?? now
  })
  const { ring } = chain
  const [quoted, ...former] = ring.all
  const replaced = quoted ? [{ ...quoted, until: at }] : []
  ring.all = [{ address: next.id, until: Number.POSITIVE_INFINITY, key, escrow }, ...replaced, ...former]
}

/** Makes a prepared key the current one. Quotes of a leaked address end at once. @returns the replaced key */
async function takePlace(t: Tx, id: Wallet, now: number): Promise<OperatorKeyRow | undefined> {
  const table = t.table(operatorKeys)
  const next = await table.getForUpdate(id)
  const known = (await allKeys(t, next?.role)).find(({ state }) => state === 'current')
  const old = known && (await table.getForUpdate(known.id))
  if (!next || !old) return undefined
  await table.put({ ...next, state: 'current', since: now })
  const until = old.leaked ? now : now + quoteWindowSeconds * SECOND_MS
  return table.put({ ...old, state: 'retiring', since: now, until })
}

type Sweeping = { readonly address: Wallet; readonly keep: bigint }

async function sweep(start: EvmStart, { chain }: Keyed, { address, keep }: Sweeping): Promise<bigint | undefined> {
  const { store } = start
  const row = await store.table(operatorKeys).get(address)
  const from = chain.ring.all.find((one) => one.address === address)
  if (!row || !from) return 0n
  const to = (await store.read((t) => allKeys(t, 'pay_to'))).find(({ state }) => state === 'next')?.id ?? chain.payTo
  const held = await chain.balanceOf(address)
  if (!row.sweep && (held <= keep || to === address)) return held
  const order = row.sweep ?? { to, amount: usdc(held - keep) }
  // Stored before it is sent, so that a repeated sweep has the same bytes.
  if (!row.sweep) await change(start, address, (known) => ({ ...known, sweep: order }))
  const id = `sweep:${address}:${row.sweeps}`
  const moved = await move({ queue: chain.queue, digestOf: chain.digestOf }, from, {
    id,
    ...order,
    priority: 'payment',
  })
  if (!moved || (!moved.ok && moved.failure !== 'insufficient_funds')) return undefined
  // A sweep that failed for lack of money can pay only an own address later, so the next one may go besides it.
  await change(start, address, ({ sweep: _, ...known }) => ({
    ...known,
    sweeps: known.sweeps + 1,
    swept: usdc(known.swept + (moved.ok ? order.amount : 0n)),
  }))
  return chain.balanceOf(address)
}
