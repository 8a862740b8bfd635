import { type Hex, toWallet, type Wallet } from '../../../../../src/core/hex.ts'
import { isObject } from '../../../../../src/core/json.ts'
import { usdc } from '../../../../../src/core/money.ts'
import type { Store } from '../../../../store/port.ts'
import type { CatchUp, MoneyMove } from '../../chain.ts'
import { topics, walletIn } from '../queue/calldata.ts'
import { type FoundLog, logsIn, openReads } from '../reads.ts'
import { addressTopic, decodeValues, topicOf } from '../rpc/abi.ts'
import type { RpcCall } from '../rpc/endpoint.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { numberIn, quantity, RpcUnavailableError } from '../rpc/values.ts'
import type { PayToRing } from '../settlement.ts'
import { type ChainHomeRow, changeHome } from './rows.ts'

/** Blocks per log query: the limit of hosted nodes. */
const SLICE = 2_000
const RECEIPTS = 50
/** Blocks that one search for transfers of a wallet reads at most: more than two days of Base. */
const MAX_SEARCHED = 50 * SLICE
/** Blocks after the first start in which the last transactions of the lost machine may still be mined. */
const PENDING_BLOCKS = 30
const NOBODY = toWallet(`0x${'0'.repeat(40)}`)
const DEPOSITED = topicOf('Deposited(bytes32,address,address,uint128,uint128,uint64)')

type Parts = {
  readonly store: Store
  readonly rpc: Rpc
  readonly row: ChainHomeRow
  readonly isHeadFinal: boolean
  readonly asset: Wallet
  readonly ring: PayToRing
}

/** Follows the chain from the block of a backup to that of the first start after its restore. */
export async function openCatchUp(parts: Parts): Promise<CatchUp> {
  const { store, rpc, row, isHeadFinal } = parts
  const head = numberIn(await rpc.ask('eth_blockNumber', []))
  const until = row.restored?.until ?? head + (isHeadFinal ? 0 : PENDING_BLOCKS)
  let isDue = row.restored !== undefined
  if (row.restored?.until === null) await changeHome(store, (home) => ({ ...home, restored: { until } }))
  // Transactions in blocks just before the backup may not have been in its books yet.
  const from = Math.max(row.from_block, (row.seen ?? 0) - SLICE)
  const reads = openReads({ rpc, fromBlock: from, isHeadFinal })
  return {
    isDue: () => isDue,
    movements: async () => {
      const { block } = await reads.asOf('final')
      return { ...(await movementsIn(parts, { from, to: Math.min(block, until) })), isWhole: block >= until }
    },
    end: async () => {
      await changeHome(store, ({ restored: _, ...home }) => home)
      isDue = false
    },
    received: async (payer, since = row.from_block) => {
      const { block } = await reads.asOf('final')
      const to = Math.min(block, since + MAX_SEARCHED - 1)
      const { rows } = await movementsIn(parts, { from: since, to, payer })
      return { rows, next: Math.max(since, to + 1) }
    },
  }
}

type Search = {
  readonly from: number
  readonly to: number
  /** Only transfers of this wallet to a pay-to address (default: all, in both directions). */
  readonly payer?: Wallet
}

async function movementsIn({ rpc, asset, ring }: Parts, { from, to, payer }: Search) {
  const logs: FoundLog[] = []
  const wallets = ring.all.map(({ address }) => address)
  const contracts = ring.all.map(({ escrow }) => escrow)
  const isInside = (one: Wallet) => one === NOBODY || contracts.includes(one)
  const own = wallets.map(addressTopic)
  for (let at = from; at <= to; at += SLICE) {
    const range = { address: asset, fromBlock: quantity(at), toBlock: quantity(Math.min(to, at + SLICE - 1)) }
    const call = (topic: readonly (Hex | null | readonly Hex[])[]) => ({
      method: 'eth_getLogs',
      params: [{ ...range, topics: topic }],
    })
    const out = payer ? [] : [call([topics.transfer, own])]
    const found = await readAll(rpc, [call([topics.transfer, payer ? addressTopic(payer) : null, own]), ...out])
    logs.push(...found.flatMap(logsIn))
  }
  const receipts = await logsByTransaction(rpc, [...new Set(logs.map(({ transaction }) => transaction))])
  const events = [...receipts.values()].flat()
  const made = events.filter(({ address, topics: [name] }) => contracts.includes(address) && name === DEPOSITED)
  const rows = logs.flatMap((log): MoneyMove[] => {
    const [payer, payee] = [walletIn(log.topics[1]), walletIn(log.topics[2])]
    // Money that moves between own wallets and escrow contracts stays in the marketplace.
    if (!payer || !payee || isInside(payer) || isInside(payee)) return []
    if (wallets.includes(payer) && wallets.includes(payee)) return []
    // The token emits `AuthorizationUsed` directly before the transfer's event.
    const used = receipts.get(log.transaction)?.find(({ index }) => index === log.index - 1)
    const isSigned = used?.address === asset && used.topics[0] === topics.used
    const nonce = isSigned ? used.topics[2] : undefined
    const { transaction, index, data } = log
    const value = usdc(decodeValues(['uint256'], data)[0])
    return [{ id: `${transaction}:${index}`, from: payer, to: payee, value, transaction, ...(nonce && { nonce }) }]
  })
  return { rows, deposits: made.flatMap(({ topics: [, id] }) => id ?? []) }
}

async function logsByTransaction(rpc: Rpc, hashes: readonly Hex[]): Promise<Map<Hex, FoundLog[]>> {
  const found = new Map<Hex, FoundLog[]>()
  for (let at = 0; at < hashes.length; at += RECEIPTS) {
    const some = hashes.slice(at, at + RECEIPTS)
    const receipts = await readAll(
      rpc,
      some.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    for (const [n, hash] of some.entries()) {
      const receipt = receipts[n]
      found.set(hash, logsIn(isObject(receipt) ? receipt['logs'] : undefined))
    }
  }
  return found
}

/** @throws RpcUnavailableError if the node does not answer every call */
async function readAll(rpc: Rpc, calls: readonly RpcCall[]): Promise<unknown[]> {
  const { answers } = await rpc.read(calls)
  return answers.map((answer) => {
    if (answer.ok) return answer.result
    throw new RpcUnavailableError(`the node does not show past transfers: ${answer.message}`)
  })
}
