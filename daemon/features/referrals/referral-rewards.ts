import { formatAmount } from '../../../src/core/money.ts'
import { accountOwner } from '../../../src/model/ledger.ts'
import { emit } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { type AccountItem, accountCron, accountWork } from '../ledger/account-work.ts'
import { account, legsOf } from '../ledger/legs.ts'
import { balanceOf, post } from '../ledger/post.ts'
import type { AccountRow } from '../ledger/rows.ts'
import { keepFrom } from '../payouts/payouts.ts'
import { compliance } from '../sanctions/sanctions.ts'

async function isSanctioned(ctx: Context, { id }: AccountRow): Promise<boolean> {
  const participant = await ctx.store.table(participants).get(accountOwner(id))
  return participant !== undefined && compliance.of(ctx).isSanctioned(participant.wallet)
}

const work = [
  accountWork({ name: 'referral.due', kind: 'refp', isDue: async () => true, isSanctioned, act: makePayable }),
  {
    // Blocks money that became payable before its wallet was sanctioned. Each run checks all payable money, so there is
    // no due time.
    ...accountWork({
      name: 'referral.keep',
      kind: 'ref',
      isDue: async (_t, { sanctioned }) => sanctioned,
      isSanctioned,
      act: keep,
    }),
    nextDue: async () => null,
  },
]

/** Makes referral earnings payable once they are due (decisions §5). */
export const referralRewards = accountCron({ name: 'referral-rewards', rounds: [work] })

async function makePayable(t: Tx, draw: Draw, item: AccountItem): Promise<void> {
  const participantId = accountOwner(item.account.id)
  const ref = { kind: 'participant', id: participantId }
  const amount = item.account.balance
  const legs = legsOf.referralDue({ participantId, amount })
  await post(t, draw, { kind: 'referral_due', ref, legs, at: item.at })
  const payable = formatAmount(await balanceOf(t, account.referral(participantId)))
  const data = { amount: formatAmount(amount), payable }
  await emit(t, draw, { type: 'referral.due', participantId, subject: ref, data, at: item.at })
  if (item.sanctioned) await keep(t, draw, item)
}

async function keep(t: Tx, draw: Draw, { account: row, at }: AccountItem): Promise<void> {
  const id = accountOwner(row.id)
  const participant = await t.table(participants).get(id)
  if (!participant) return
  const { wallet } = participant
  const source = account.referral(id)
  await keepFrom(t, draw, { kind: 'referral', wallet, source, ref: { kind: 'participant', id }, at })
}
