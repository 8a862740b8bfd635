import { type Usdc, usdc } from '../../../src/core/money.ts'
import { type ParticipantRow, participantOfWallet, participants } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { earnedAs, earnedBy } from '../ledger/earnings.ts'
import { account, type Buyer, type Referrers } from '../ledger/legs.ts'
import { balanceOf } from '../ledger/post.ts'
import { keptOf } from '../payouts/payouts.ts'

/**
 * The referrers who share the fee of a sale. Call it when the fee is due, because a buyer may have registered after the
 * purchase. Referrals have no time limit (decisions §11).
 */
export async function referrersOf(
  t: ReadTx,
  sale: { readonly buyer: Buyer; readonly providerId: string },
): Promise<Referrers> {
  const buyer = await buyerOf(t, sale.buyer)
  const provider = await t.table(participants).get(sale.providerId)
  return { buyer: buyer?.referred_by ?? null, provider: provider?.referred_by ?? null, buyerId: buyer?.id ?? null }
}

async function buyerOf(t: ReadTx, buyer: Buyer): Promise<ParticipantRow | undefined> {
  return 'wallet' in buyer ? participantOfWallet(t, buyer.wallet) : await t.table(participants).get(buyer.participantId)
}

/** Referral money by state. `agent` and `provider` are all-time earnings from referred buyers and providers. */
export type ReferralMoney = Readonly<
  Record<'pending' | 'payable' | 'blocked' | 'withdrawn' | 'lifetime' | 'agent' | 'provider', Usdc>
>

export async function referralMoney(
  t: ReadTx,
  { id, wallet }: Pick<ParticipantRow, 'id' | 'wallet'>,
): Promise<ReferralMoney> {
  const pending = await balanceOf(t, account.referralPending(id))
  const payable = await balanceOf(t, account.referral(id))
  const blocked = await keptOf(t, { wallet, source: account.referral(id) })
  const agent = await earnedAs(t, id, 'agent')
  const provider = await earnedAs(t, id, 'provider')
  const lifetime = usdc(agent + provider)
  return {
    pending,
    payable,
    blocked,
    withdrawn: usdc(lifetime - pending - payable - blocked),
    lifetime,
    agent,
    provider,
  }
}

export async function referralView(t: ReadTx, referrer: string, row: ParticipantRow) {
  return {
    participant_id: row.id,
    name: row.name,
    type: row.type,
    earned: await earnedBy(t, referrer, row.id),
    registered_at: row.created_at,
  }
}
