import { hash } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import {
  type Authorization,
  chainNetworks,
  circleUsdc,
  domainSeparator,
  networks,
  type TokenDomain,
} from '../../../../src/core/authorization.ts'
import { type Hex, toWallet, type Wallet } from '../../../../src/core/hex.ts'
import { type Usdc, usdc, ZERO } from '../../../../src/core/money.ts'
import { DAY_MS, unixSeconds } from '../../../../src/core/time.ts'
import type { ReadTx, Store, Table, Tx } from '../../../store/port.ts'
import {
  type ChainPort,
  type ChainTransaction,
  type ChainTransactions,
  FAUCET_DAILY_LIMIT,
  type FaucetResult,
  type PayoutOrder,
  type SettleAuthorization,
  type SettleFailure,
  type SettleResult,
  type TransferResult,
  unsent,
} from '../chain.ts'
import { openDigests, type Recover } from '../signature.ts'
import {
  type SandboxAccountRow,
  type SandboxTokenRow,
  type SandboxTransferRow,
  sandboxAccounts,
  sandboxTokens,
  sandboxTransfers,
} from './ledger.ts'
import { openSandboxRegistries } from './registries.ts'

/** Finds any transaction of the ledger; all are final. The list is empty, because a sandbox has no queue. */
function sandboxTransactions(store: Store, asset: Wallet): ChainTransactions {
  return {
    page: async () => ({ rows: [], total: 0 }),
    find: async (hash) => {
      const [row] = (await store.table(sandboxTransfers).page('transaction', [hash.toLowerCase()], { limit: 1 })).rows
      return row && shown(row, asset)
    },
    sweep: async () => 0,
  }
}

/** Shows a transfer as a transaction. The sender of minted money is the token. */
function shown(row: SandboxTransferRow, asset: Wallet): ChainTransaction {
  const { id, from, to, amount, transaction, at, kind } = row
  const nonce = (kind === 'authorization' ? id.split(':').at(-1) : transaction) as Hex // as their key is made
  return {
    id,
    nonce: 0,
    to: asset,
    state: 'final',
    call: null,
    transfers: [{ from: from ?? asset, to, value: amount, nonce, state: 'moved' }],
    hashes: [transaction],
    maxFee: 0n,
    sentAt: at,
    included: { hash: transaction, block: 0, ok: true, at },
  }
}

const NETWORK = chainNetworks.sandbox
const TOKEN_ID = 'token'
const ADDRESS_BYTES = 20

export type SandboxParts = {
  store: Store
  recover: Recover
  /** Source of random bytes, used when a store is opened for the first time. */
  entropy: (bytes: number) => Uint8Array
  /** Epoch milliseconds of the machine, because validity windows do not follow business time. */
  wall: () => number
}

type Transfer = Omit<SandboxTransferRow, 'version' | 'transaction'>
type Moved = { transaction: Hex; already: boolean }

/** The chain port of a sandbox, which always has a faucet, free identities and a payout key. */
export type SandboxChain = Omit<ChainPort, 'identityRegistry'> &
  Required<Pick<ChainPort, 'faucet' | 'pays'>> & { readonly identityRegistry: Required<ChainPort['identityRegistry']> }

/** A ledger of test USDC in the store, with the real token's rules (decisions §4, chain modes). */
export async function openSandboxChain(parts: SandboxParts): Promise<SandboxChain> {
  const token = await openToken(parts)
  const { name, version } = circleUsdc[NETWORK]
  const { caip2, chainId } = networks[NETWORK]
  const domain: TokenDomain = { name, version, chainId, verifyingContract: token.asset }
  const digestOf = openDigests(domainSeparator(domain))
  const { store } = parts
  const settleWithin: NonNullable<SettleAuthorization['within']> = (authorization, signature) => {
    const digest = digestOf(authorization)
    const signed = parts.recover(digest, signature) === authorization.from
    const at = parts.wall()
    return (t) => settle({ t, asset: token.asset, authorization, digest: toHex(digest), signed, at })
  }
  const registries = await openSandboxRegistries({ ...parts, chainId, client: token.pay_to })
  return {
    mode: 'sandbox',
    network: NETWORK,
    caip2,
    chainId,
    asset: { address: token.asset, name, version, decimals: 6 },
    payTo: token.pay_to,
    ...registries,
    transactions: sandboxTransactions(store, token.asset),
    pays: true,
    domain,
    digestOf,
    balanceOf: async (wallet) => (await store.table(sandboxAccounts).get(wallet))?.balance ?? ZERO,
    authorizationState: async (from, nonce) => {
      const row = await store.table(sandboxTransfers).get(authorizationId(from, nonce))
      const asOf = { block: 0, timestamp: unixSeconds(parts.wall()), finality: 'final' } as const
      return row === undefined ? { used: false, asOf } : { used: true, transaction: row.transaction, asOf }
    },
    verify: async (authorization, signature) => {
      const signed = parts.recover(digestOf(authorization), signature) === authorization.from
      const failure = await store.read((t) => refusalOf(t, { authorization, signed, at: parts.wall() }))
      return failure === undefined ? { ok: true } : { ok: false, failure }
    },
    settle: Object.assign(
      async (authorization: Authorization, signature: Hex) => store.tx(settleWithin(authorization, signature)),
      { within: settleWithin },
    ),
    transfer: async (payout) => {
      const at = parts.wall()
      return await store.tx((t) => pay({ t, token, payout, at }))
    },
    faucet: async (request) => {
      const at = parts.wall()
      return await store.tx((t) => mint({ t, asset: token.asset, ...request, at }))
    },
  }
}

async function openToken({ store, entropy }: SandboxParts): Promise<SandboxTokenRow> {
  const existing = await store.table(sandboxTokens).get(TOKEN_ID)
  if (existing !== undefined) return existing
  const asset = drawAddress(entropy)
  const pay_to = drawAddress(entropy)
  return await store.tx(async (t) => {
    const table = t.table(sandboxTokens)
    return (await table.getForUpdate(TOKEN_ID)) ?? (await table.insert({ id: TOKEN_ID, asset, pay_to, supply: ZERO }))
  })
}

/** Random address of the test token. Throws for a real token's address, where the same signatures would be valid. */
export function drawAddress(entropy: SandboxParts['entropy']): Wallet {
  const address = toWallet(toHex(entropy(ADDRESS_BYTES)))
  if (Object.values(circleUsdc).some((token) => token.asset === address)) {
    throw new Error('the random generator returned a real token address')
  }
  return address
}

type Settlement = {
  t: Tx
  asset: Wallet
  authorization: Authorization
  digest: Hex
  signed: boolean
  at: number
}

async function settle(settlement: Settlement): Promise<SettleResult> {
  const { t, asset, authorization, digest, at } = settlement
  const { from, to, nonce, value } = authorization
  const id = authorizationId(from, nonce)
  const done = await t.table(sandboxTransfers).get(id)
  if (done?.digest === digest) return { ok: true, transaction: done.transaction, already: true }
  const failure = await refusalOf(t, settlement)
  if (failure !== undefined) return unsent(failure)
  const moved = await move(t, asset, { id, kind: 'authorization', from, to, amount: usdc(value), digest, at })
  return moved === undefined ? unsent('insufficient_funds') : { ok: true, ...moved }
}

type SettleParams = Pick<Settlement, 'authorization' | 'signed' | 'at'>

async function refusalOf(t: ReadTx, { authorization, signed, at }: SettleParams): Promise<SettleFailure | undefined> {
  const { from, nonce, value, validAfter, validBefore } = authorization
  if ((await t.table(sandboxTransfers).get(authorizationId(from, nonce))) !== undefined) return 'authorization_used'
  if (!signed) return 'signature_invalid'
  const now = BigInt(unixSeconds(at))
  if (now < validAfter) return 'authorization_not_yet_valid'
  if (now >= validBefore) return 'authorization_expired'
  const held = (await t.table(sandboxAccounts).get(from))?.balance ?? ZERO
  return held < value ? 'insufficient_funds' : undefined
}

type Payment = { t: Tx; token: SandboxTokenRow; payout: PayoutOrder; at: number }

async function pay({ t, token, payout, at }: Payment): Promise<TransferResult> {
  const { to, amount } = payout
  const id = `payout:${payout.id}`
  const done = await t.table(sandboxTransfers).get(id)
  if (done !== undefined) {
    const same = done.to === to && done.amount === amount
    return same ? { ok: true, transaction: done.transaction, already: true } : { ok: false, failure: 'id_reused' }
  }
  const moved = await move(t, token.asset, { id, kind: 'payout', from: token.pay_to, to, amount, digest: null, at })
  return moved === undefined ? { ok: false, failure: 'insufficient_funds' } : { ok: true, ...moved }
}

/** Moves and records one transfer. If the payer has too little, changes nothing and returns undefined. */
async function move(t: Tx, asset: Wallet, transfer: Transfer & { from: Wallet }): Promise<Moved | undefined> {
  const accounts = t.table(sandboxAccounts)
  const payer = await accounts.getForUpdate(transfer.from)
  if (payer === undefined || payer.balance < transfer.amount) return undefined
  await accounts.update(payer.wallet, payer.version, { balance: usdc(payer.balance - transfer.amount) })
  await credit(accounts, transfer.to, transfer.amount)
  const transaction = transactionOf(asset, transfer)
  await t.table(sandboxTransfers).insert({ ...transfer, transaction })
  return { transaction, already: false }
}

type Minting = { t: Tx; asset: Wallet; wallet: Wallet; amount: Usdc; nowMs: number; at: number }

async function mint({ t, asset, wallet, amount, nowMs, at }: Minting): Promise<FaucetResult> {
  if (amount <= 0n) throw new RangeError('the faucet amount must be positive')
  const accounts = t.table(sandboxAccounts)
  const day = Math.floor(nowMs / DAY_MS)
  const account = await accounts.getForUpdate(wallet)
  const granted = account?.faucet_day === day ? account.faucet_granted : ZERO
  const remaining = usdc(FAUCET_DAILY_LIMIT - granted)
  if (amount > remaining) return { ok: false, failure: 'daily_limit', remainingToday: remaining }
  const row = await credit(accounts, wallet, amount)
  const grant = { faucet_day: day, faucet_granted: usdc(granted + amount) }
  const { version } = await accounts.update(wallet, row.version, grant)
  await t.table(sandboxTokens).increment(TOKEN_ID, 'supply', amount)
  const id = `mint:${wallet}:${version}`
  const transfer: Transfer = { id, kind: 'mint', from: null, to: wallet, amount, digest: null, at }
  const transaction = transactionOf(asset, transfer)
  await t.table(sandboxTransfers).insert({ ...transfer, transaction })
  return { ok: true, transaction, granted: amount, remainingToday: usdc(remaining - amount) }
}

async function credit(accounts: Table<SandboxAccountRow>, wallet: Wallet, amount: Usdc): Promise<SandboxAccountRow> {
  const account = await accounts.getForUpdate(wallet)
  if (account === undefined) {
    return await accounts.insert({ wallet, balance: amount, faucet_day: 0, faucet_granted: ZERO })
  }
  return await accounts.update(wallet, account.version, { balance: usdc(account.balance + amount) })
}

function authorizationId(from: Wallet, nonce: Hex): string {
  return `${from}:${nonce}`
}

/** SHA-256 of the canonical transfer. The transfer's id makes the hash unique. */
function transactionOf(asset: Wallet, { id, from, to, amount }: Transfer): Hex {
  return `0x${hash('sha256', ['sandbox', asset, id, from ?? 'mint', to, amount].join('\n'))}`
}

function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`
}
