import { AppError } from '../../../src/core/error.ts'
import type { Wallet } from '../../../src/core/hex.ts'
import { formatPrice, usdc } from '../../../src/core/money.ts'
import { DAY_MS, SECOND_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Tx } from '../../store/port.ts'
import { gasDays } from './rows.ts'

/* Gas actions make the operator pay gas, for no fee: withdrawals, and refunds after a cancel (decisions §4). */

/** Maximum gas actions per wallet and UTC day. */
export const GAS_ACTS_A_DAY = 20
/** Minimum on-chain withdrawal. A smaller one must empty the balance, and is possible once a day for each wallet. */
export const SMALLEST_ON_CHAIN = usdc(1_000_000n)

type Machine = Pick<Context, 'chain' | 'clock'>

export function costsGas({ chain }: Pick<Context, 'chain'>): boolean {
  return chain.status !== undefined
}

/** The operator is notified when all wallets together exceed this number of gas actions on one day. */
export const GAS_ACTS_TOLD = 100
const PAGE_ROWS = 1_000

/** Number of gas actions of all wallets today (UTC). */
export async function gasActsToday({ store, clock }: Pick<Context, 'store' | 'clock'>): Promise<number> {
  const today = { index: 'day', prefix: [Math.floor(clock.wall() / DAY_MS)], limit: PAGE_ROWS }
  return (await everyRow(store.table(gasDays), today)).reduce((sum, { acts }) => sum + acts, 0)
}

type GasAct = {
  readonly wallet: Wallet
  /** Whether the action withdraws a whole balance below `SMALLEST_ON_CHAIN`. */
  readonly empties?: boolean
}

/**
 * Counts an action that costs gas, in the action's transaction. Does nothing if gas is free.
 * @throws AppError `rate_limited` if the wallet has used up its actions of the day. Its money then stays where it is.
 */
export async function countGasAct(t: Tx, machine: Machine, { wallet, empties = false }: GasAct): Promise<void> {
  if (!costsGas(machine)) return
  const wall = machine.clock.wall()
  const day = Math.floor(wall / DAY_MS)
  const id = `${day}:${wallet}`
  const held = await t.table(gasDays).getForUpdate(id)
  const { acts, emptied } = held ?? { acts: 0, emptied: false }
  const retryAfter = Math.ceil(((day + 1) * DAY_MS - wall) / SECOND_MS)
  if (acts >= GAS_ACTS_A_DAY) {
    const sentence = `A wallet can withdraw or cancel ${GAS_ACTS_A_DAY} times a day: nothing was changed, try again tomorrow (UTC).`
    throw new AppError('rate_limited', sentence, { retryAfter })
  }
  if (empties && emptied) {
    const sentence = `A wallet can withdraw less than ${formatPrice(SMALLEST_ON_CHAIN)} only once a day: nothing was changed, try again tomorrow (UTC).`
    throw new AppError('rate_limited', sentence, { retryAfter })
  }
  await t.table(gasDays).put({ id, day, acts: acts + 1, emptied: emptied || empties })
}
