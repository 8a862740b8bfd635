import { join } from 'node:path'
import type { Wallet } from '../../../../../src/core/hex.ts'
import { type KeyRole, keyStates } from '../../../../../src/model/payment.ts'
import { everyRow } from '../../../../store/each-page.ts'
import type { ReadTx, Tx } from '../../../../store/port.ts'
import type { Signer } from '../../key.ts'
import type { EvmChain, EvmDeployment } from '../open.ts'
import { CHAIN_FOLDER, type EvmStart, externalSigner, keyIn, ownKey } from './keys.ts'
import { type ChainHomeRow, type OperatorKeyRow, operatorKeys } from './rows.ts'

const KEYS = 100
/** Source of a key that an external signer has. */
export const SIGNER = 'signer'
/** Names of the roles in options and files. */
export const roleNames = { pay_to: 'pay-to', gas: 'gas' } as const satisfies Record<KeyRole, string>

export type Keyed = {
  readonly chain: EvmChain
  readonly deployment: EvmDeployment
  readonly row: ChainHomeRow
}

/** Keys in order of state, then newest first. */
export async function allKeys(t: ReadTx, role?: KeyRole): Promise<OperatorKeyRow[]> {
  const rows = await everyRow(t.table(operatorKeys), { index: 'newest', prefix: [], limit: KEYS })
  const own = rows.filter((row) => role === undefined || row.role === role)
  return own.sort((a, b) => keyStates.indexOf(a.state) - keyStates.indexOf(b.state))
}

export async function nextKey({ store }: EvmStart, role: KeyRole): Promise<OperatorKeyRow | undefined> {
  return (await store.read((t) => allKeys(t, role))).find(({ state }) => state === 'next')
}

type KeyPlace = Pick<OperatorKeyRow, 'role' | 'source'> & { readonly id?: Wallet | undefined }

export async function signerOf(start: EvmStart, { id, role, source }: KeyPlace): Promise<Signer> {
  const { mode, dataDir, entropy, setup } = start
  if (source === SIGNER && id) return externalSigner(start, roleNames[role], id)
  const passphrase = setup.passphrase?.()
  if (mode === 'devnet') return ownKey(join(dataDir, CHAIN_FOLDER, source), entropy, passphrase)
  return keyIn(source, 'The key file', { owner: id, passphrase })
}

export function changeKey(
  { store }: EvmStart,
  address: Wallet,
  to: (row: OperatorKeyRow) => OperatorKeyRow,
): Promise<void> {
  return store.tx(async (t) => {
    const row = await t.table(operatorKeys).getForUpdate(address)
    if (row) await t.table(operatorKeys).put(to(row))
  })
}

type Place = { readonly id: Wallet; readonly now: number; readonly windowMs: number }

/** Makes a prepared key the current one. Quotes of a leaked address end at once. @returns the replaced key */
export async function takePlace(t: Tx, { id, now, windowMs }: Place): Promise<OperatorKeyRow | undefined> {
  const table = t.table(operatorKeys)
  const next = await table.getForUpdate(id)
  const known = (await allKeys(t, next?.role)).find(({ state }) => state === 'current')
  const old = known && (await table.getForUpdate(known.id))
  if (!next || !old) return undefined
  await table.put({ ...next, state: 'current', since: now })
  return table.put({ ...old, state: 'retiring', since: now, until: old.leaked ? now : now + windowMs })
}
