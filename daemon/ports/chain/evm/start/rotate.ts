import { isAbsolute, resolve } from 'node:path'
import { chainNetworks } from '../../../../../src/core/authorization.ts'
import { AppError } from '../../../../../src/core/error.ts'
import type { Wallet } from '../../../../../src/core/hex.ts'
import { quoteWindowSeconds } from '../../../../../src/core/limits.ts'
import { usdc, ZERO } from '../../../../../src/core/money.ts'
import { compact } from '../../../../../src/core/record.ts'
import { SECOND_MS } from '../../../../../src/core/time.ts'
import type { KeyRole } from '../../../../../src/model/payment.ts'
import type { KeyOrder, OperatorKey, OperatorKeys } from '../../chain.ts'
import type { Signer } from '../../key.ts'
import type { FormerGasKey } from '../open.ts'
import { move, type PayToKey } from '../settlement.ts'
import { deploy, planOwn } from './contracts.ts'
import { allKeys, changeKey, type Keyed, nextKey, roleNames, SIGNER, signerOf, takePlace } from './key-rows.ts'
import { type EvmStart, keyIn, refuseFailing } from './keys.ts'
import { anchorsName, checkHandOver, moveEther, replaceGas } from './rotate-gas.ts'
import { type ChainHomeRow, chainHomes, type OperatorKeyRow, operatorKeys } from './rows.ts'

/** Name in `chain_homes.contracts` of the escrow contract that pays to a replaced address. */
const escrowName = (payTo: Wallet) => `escrow:${payTo}`

type RotatedKeys = {
  readonly gas?: Signer
  readonly formerGas?: readonly FormerGasKey[]
  /** Whether others may send transactions by the gas key in use. */
  readonly isShared?: boolean
  readonly payTo?: Signer
  readonly former?: readonly PayToKey[]
}

/** The keys of a chain whose first ones were replaced. A role without a rotation is absent. */
export async function rotatedKeys(start: EvmStart, home: ChainHomeRow): Promise<RotatedKeys> {
  const rows = await start.store.read((t) => allKeys(t))
  const used = async (role: KeyRole, address: Wallet) => {
    const current = rows.find(({ id, state }) => id === address && state === 'current')
    return current && { current, key: await inUse(start, current), former: former(rows, role) }
  }
  const gas = await used('gas', home.gas_key)
  const payTo = await used('pay_to', home.pay_to)
  return {
    ...(gas && {
      gas: gas.key,
      isShared: gas.current.leaked === true,
      formerGas: await Promise.all(gas.former.map((row) => formerGasKey(start, home, row))),
    }),
    ...(payTo && {
      payTo: payTo.key,
      former: await Promise.all(
        payTo.former
          .filter(({ state }) => state === 'retiring')
          .map(async (row) => ({
            ...{ address: row.id, until: row.until ?? 0, key: await signerOf(start, row) },
            escrow: home.contracts[escrowName(row.id)],
          })),
      ),
    }),
  }
}

function former(rows: readonly OperatorKeyRow[], of: KeyRole): OperatorKeyRow[] {
  return rows.filter(({ role, state }) => role === of && (state === 'retiring' || state === 'retired'))
}

async function formerGasKey(start: EvmStart, home: ChainHomeRow, row: OperatorKeyRow): Promise<FormerGasKey> {
  const key = row.state === 'retiring' ? await signerOf(start, row) : undefined
  return { address: row.id, ...compact({ anchors: home.contracts[anchorsName(row.id)], key }) }
}

/** The key in use. The operator may have moved it since it was prepared, and names its file. */
async function inUse(start: EvmStart, current: OperatorKeyRow): Promise<Signer> {
  const { mode, setup } = start
  const file = current.role === 'gas' ? setup.gasKeyFile : setup.payToKeyFile
  const flag = `--${roleNames[current.role]}-key-file`
  const isNamed = mode !== 'devnet' && file !== undefined
  const named = isNamed ? await keyIn(file, flag, compact({ passphrase: setup.passphrase?.() })) : undefined
  return named?.address === current.id ? named : signerOf(start, current)
}

/** Rotation of the keys of a running chain. Every step is durable before the next one. */
export function openOperatorKeys(start: EvmStart, keyed: Keyed): OperatorKeys {
  const { store, wall } = start
  const { chain } = keyed
  return {
    list: async () => (await store.read((t) => allKeys(t))).map(shown),
    prepare: async (order) => shown(await prepare(start, keyed, order)),
    markLeaked: (address) =>
      changeKey(start, address, (row) => ({ ...row, leaked: true, ...(row.until && { until: wall() }) })).then(() =>
        closeWindow(keyed, address, wall()),
      ),
    replace: (role) => (role === 'gas' ? replaceGas(start, keyed) : replacePayTo(start, keyed)),
    sweep: async (address, keep) => {
      const row = await store.table(operatorKeys).get(address)
      if (row?.role === 'gas') return moveEther(start, keyed, row)
      return sweep(start, keyed, { address, keep })
    },
    retire: async (address) => {
      if (chain.gas.senders.includes(address)) await chain.queue.forget(address)
      await changeKey(start, address, (row) => ({ ...row, state: 'retired', since: wall() }))
      chain.ring.all = chain.ring.all.filter((one) => one.address !== address)
    },
  }
}

function shown({ id: address, role, state, since, until, leaked, swept }: OperatorKeyRow): OperatorKey {
  return { address, role, state, since, until: until ?? null, leaked: leaked === true, swept }
}

function closeWindow({ chain: { ring } }: Keyed, address: Wallet, now: number): void {
  ring.all = ring.all.map((one) => (one.address === address && one.until < Infinity ? { ...one, until: now } : one))
}

async function prepare(start: EvmStart, keyed: Keyed, order: KeyOrder): Promise<OperatorKeyRow> {
  const { store, wall } = start
  const { chain } = keyed
  const { role } = order
  const known = await store.read((t) => allKeys(t))
  const next = known.find((row) => row.role === role && row.state === 'next')
  if (next) return next
  const current = role === 'gas' ? chain.gas.key.address : chain.payTo
  const number = Math.max(known.filter((row) => row.role === role).length, 1) + 1
  const source = sourceOf(start, order, `${roleNames[role]}-${number}.key`)
  const signer = await signerOf(start, { role, source, id: order.address })
  const { address } = signer
  if (known.some(({ id }) => id === address) || address === chain.payTo || address === chain.gas.key.address) {
    const field = order.address === undefined ? 'key_file' : 'address'
    throw new AppError('conflict', `${field}: ${address} is or was a key of this marketplace; use a new key.`)
  }
  await refuseFailing(signer)
  if (role === 'gas') await checkHandOver(start, keyed, address)
  const fresh = { role, sweeps: 0, swept: ZERO }
  return store.tx(async (t) => {
    const table = t.table(operatorKeys)
    if (!(await table.getForUpdate(current))) {
      await table.put({ ...fresh, id: current, state: 'current', since: 0, source: firstSource(start, role) })
    }
    await table.getForUpdate(address)
    return table.put({ ...fresh, id: address, state: 'next', since: wall(), source })
  })
}

function sourceOf({ mode }: EvmStart, { source, address }: KeyOrder, own: string): string {
  if (address !== undefined) return SIGNER
  if (mode === 'devnet') return own
  if (source !== undefined && isAbsolute(source)) return source
  throw new AppError('invalid_request', 'key_file: required: the absolute path of the new key on the daemon’s machine.')
}

function firstSource({ mode, setup }: EvmStart, role: KeyRole): string {
  const [address, file] =
    role === 'gas' ? [setup.gasAddress, setup.gasKeyFile] : [setup.payToAddress, setup.payToKeyFile]
  if (address !== undefined) return SIGNER
  return mode === 'devnet' && file === undefined ? `${roleNames[role]}.key` : resolve(file ?? '')
}

/** Deploys the new address's escrow contract, then quotes the address. */
async function replacePayTo(start: EvmStart, { chain, deployment, row }: Keyed): Promise<void> {
  const { store, wall, mode } = start
  const next = await nextKey(start, 'pay_to')
  if (!next) return
  const roles = { sender: chain.gas.key.address, payTo: next.id, salt: row.salt }
  const plan = { escrow: planOwn(roles, deployment.asset).escrow }
  await deploy(plan, chain)
  const key = await signerOf(start, next)
  const escrow = plan.escrow.address
  const at = await store.tx(async (t) => {
    const now = wall()
    const old = await takePlace(t, { id: next.id, now, windowMs: quoteWindowSeconds * SECOND_MS })
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

type Sweeping = { readonly address: Wallet; readonly keep: bigint }

async function sweep(start: EvmStart, { chain }: Keyed, { address, keep }: Sweeping): Promise<bigint | undefined> {
  const { store } = start
  const row = await store.table(operatorKeys).get(address)
  const from = chain.ring.all.find((one) => one.address === address)
  if (!row || !from) return 0n
  const to = (await nextKey(start, 'pay_to'))?.id ?? chain.payTo
  const held = await chain.balanceOf(address)
  if (!row.sweep && (held <= keep || to === address)) return held
  const order = row.sweep ?? { to, amount: usdc(held - keep) }
  // Stored before it is sent, so that a repeated sweep has the same bytes.
  if (!row.sweep) await changeKey(start, address, (known) => ({ ...known, sweep: order }))
  const id = `sweep:${address}:${row.sweeps}`
  const moved = await move({ queue: chain.queue, digestOf: chain.digestOf }, from, {
    id,
    ...order,
    priority: 'payment',
  })
  if (!moved || (!moved.ok && moved.failure !== 'insufficient_funds')) return undefined
  // A sweep that failed for lack of money can pay only an own address later, so the next one may go besides it.
  await changeKey(start, address, ({ sweep: _, ...known }) => ({
    ...known,
    sweeps: known.sweeps + 1,
    swept: usdc(known.swept + (moved.ok ? order.amount : 0n)),
  }))
  return chain.balanceOf(address)
}
