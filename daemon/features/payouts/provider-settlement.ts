import { accountOwner } from '../../../src/model/ledger.ts'
import type { Context } from '../../kernel/context.ts'
import { isSuspended, type ParticipantRow, participants } from '../../kernel/rows.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { type AccountItem, accountCron, accountWork } from '../ledger/account-work.ts'
import { legsOf } from '../ledger/legs.ts'
import { post } from '../ledger/post.ts'
import type { AccountRow } from '../ledger/rows.ts'
import { compliance } from '../sanctions/sanctions.ts'
import { keepFrom, openPayout, openPayoutOf, runPayouts } from './payouts.ts'

const work = accountWork({
  name: 'provider.settlement',
  kind: 'prov',
  isDue: canSettle,
  async isSanctioned(ctx, account) {
    const provider = await providerOf(ctx.store.table(participants), account)
    return provider !== undefined && compliance.of(ctx).isSanctioned(provider.wallet)
  },
  act: settle,
})

/** Pays providers' earnings to their wallets (decisions §5). */
export const providerSettlement = accountCron({ name: 'provider-settlement', rounds: [[work]], after: runPayouts })

type Participants = { get(key: string): Promise<ParticipantRow | undefined> }

function providerOf(table: Participants, { id }: AccountRow): Promise<ParticipantRow | undefined> {
  return table.get(accountOwner(id))
}

/**
 * Whether earnings can be settled now. A wallet has one payout at a time, and a suspended provider waits until its
 * suspension ends.
 */
async function canSettle(t: ReadTx, { account, sanctioned }: AccountItem): Promise<boolean> {
  const provider = await providerOf(t.table(participants), account)
  if (!provider || isSuspended(provider)) return false
  return provider.first_party || sanctioned || (await openPayoutOf(t, provider.wallet)) === undefined
}

async function settle(t: Tx, draw: Draw, item: AccountItem & { readonly ctx: Context }): Promise<void> {
  const { account, sanctioned, at } = item
  const provider = await providerOf(t.table(participants), account)
  if (!provider) return
  const { id, wallet } = provider
  const ref = { kind: 'participant', id }
  if (provider.first_party) {
    // First-party earnings belong to the operator. They are settled in the books, not on the chain.
    const legs = legsOf.firstPartySettlement({ providerId: id, amount: account.balance })
    await post(t, draw, { kind: 'settlement', ref, legs, at })
    return
  }
  const payout = { kind: 'settlement' as const, wallet, source: account.id, ref, at }
  await (sanctioned ? keepFrom(t, draw, payout) : openPayout(t, draw, payout))
}
