import type { sanctionsApi } from '../../../src/api/sections/sdn.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import { isAddress, toWallet, type Wallet } from '../../../src/core/hex.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { audit } from '../../events/event-log.ts'
import { commit } from '../../store/draw.ts'
import { offsetPage } from '../../store/each-page.ts'
import type { Draft } from '../../store/port.ts'
import { type SanctionRow, sanctions } from './rows.ts'
import { compliance, putSanction, sanctionOf, sdnHealth } from './sanctions.ts'

export const sanctionRoutes: FreeHandlers<typeof sanctionsApi> = {
  listSanctions: async ({ query }, { ctx, now }) => {
    const { wallet, manual, ...asked } = query
    const slice =
      wallet === undefined ? { index: manual ? 'manual' : 'wallet', prefix: [] } : { index: 'wallet', prefix: [wallet] }
    const { rows, ...page } = await ctx.store.read((t) => offsetPage(t.table(sanctions), { ...asked, ...slice }))
    const sdn = sdnHealth(compliance.of(ctx).list, { source: compliance.of(ctx).source.shown, now })
    return { wallets: rows.map(sanctionView), ...page, sdn }
  },

  /** Idempotent: for a wallet that was already added, the first reason stays. */
  addSanction: async ({ body }, call) => {
    const { ctx, now } = call
    const { wallet, reason } = body
    const change = await commit(ctx, async (t, draw) => {
      const locked = await t.table(sanctions).getForUpdate(wallet)
      const changed = locked?.manual !== true
      const row = changed ? { ...(locked ?? sanctionOf(wallet, now)), manual: true, reason } : locked
      if (changed) await putSanction(t, row)
      await audit(t, draw, { act: 'sdn.add', subject: subjectOf(wallet), reason, changed, by: call })
      return { ...sanctionView(row), changed }
    })
    await compliance.of(ctx).list.follow()
    return change
  },

  removeSanction: async ({ params }, call) => {
    const { ctx, now } = call
    if (!isAddress(params.wallet)) throw invalidField('wallet', 'must be an address')
    const wallet = toWallet(params.wallet)
    const sanctioned = await commit(ctx, async (t, draw) => {
      const locked = await t.table(sanctions).getForUpdate(wallet)
      if (!locked?.manual) throw new AppError('not_found', 'This wallet was not added by an operator.')
      await putSanction(t, { ...locked, manual: false, reason: null }, now)
      const detail = { listed: locked.listed, was: locked.reason }
      await audit(t, draw, { act: 'sdn.remove', subject: subjectOf(wallet), changed: true, detail, by: call })
      return locked.listed
    })
    await compliance.of(ctx).list.follow()
    return { wallet, sanctioned }
  },
}

function sanctionView({ wallet, listed, manual, reason, since }: Draft<SanctionRow>) {
  return { wallet, listed, manual, reason, since }
}

function subjectOf(wallet: Wallet) {
  return { kind: 'wallet', id: wallet }
}
