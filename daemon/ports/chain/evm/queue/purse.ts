import { bigIn } from '../rpc/values.ts'
import { type Core, inFlight, seeHead } from './core.ts'
import { type Fees, firstFees } from './fees.ts'

const REFRESH_MS = 10_000
/** While something is held it is asked about more often. */
const HELD_REFRESH_MS = 500
/** What is offered to whoever makes blocks where the node does not say: a thousandth of a gwei. */
const DEFAULT_TIP = 1_000_000n

/** Asks for the balance of the gas key and for the tip, where they are old. @throws RpcUnavailableError */
export async function lookIntoPurse(core: Core): Promise<void> {
  const { rpc, signer, wall, maxFee } = core.options
  const age = wall() - core.purseAt
  if (age < (core.held === undefined ? REFRESH_MS : HELD_REFRESH_MS)) return
  const { head, answers } = await rpc.read([
    { method: 'eth_getBalance', params: [signer.address, 'latest'] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
  ])
  const [balance, tip] = answers
  if (balance?.ok) core.gasBalance = bigIn(balance.result)
  const asked = tip?.ok ? bigIn(tip.result) : DEFAULT_TIP
  core.tip = asked < maxFee ? asked : maxFee
  seeHead(core, head)
  core.purseAt = wall()
}

/** Fees for a transaction of so much gas; undefined, and noted, when the cap or the balance does not allow it. */
export function feesFor(core: Core, gas: number): Fees | undefined {
  const fees = firstFees({ baseFee: core.head?.baseFee ?? 0n, tip: core.tip }, core.options.maxFee)
  core.held = fees ? undefined : 'fee'
  if (!fees) return undefined
  const promised = inFlight(core).reduce(
    (sum, { row }) => sum + BigInt(row.gas) * (row.sends.at(-1)?.max_fee ?? 0n),
    0n,
  )
  if ((core.gasBalance ?? 0n) >= promised + BigInt(gas) * fees.maxFee) return fees
  core.held = 'gas'
  return undefined
}
