import type { Line } from '../parts/line.ts'
import { refuse } from '../shell/ask.ts'
import { viewWords } from '../shell/finding.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Face, Host, View } from '../shell/screen.ts'
import { type ShopView, shopViews, unnarrowed } from '../shell/ui.ts'
import { fetchShopCounts, type ShopCounts } from './market-rows.ts'

/** The views of the market, and how much is in each where that is known. */
export type Shop = { readonly counts: ShopCounts; readonly admin: boolean }

/** A hook: how much there is of everything that is traded. */
export function useShop(host: Host, { where }: View): Shop {
  const isKnown = where?.admin === true
  const asked = { name: `shop counts ${isKnown}`, every: SLOW_EVERY_MS }
  return { counts: useQuery(fetchShopCounts(host.link, isKnown), asked).value ?? {}, admin: where?.admin !== false }
}

/** `v`: the next of what is traded; the whole of it is the operator's to see. */
export function shopActions(host: Host, { where }: View): Face['actions'] {
  return {
    view() {
      const ui = host.ui.get()
      const next = shopViews[(shopViews.indexOf(ui.shopView) + 1) % shopViews.length]
      if (where?.admin === false)
        refuse(host, `What everybody trades is the administrator’s to see.  → ${shellCommand(host, ['plans', 'list'])}`)
      else if (next !== undefined) host.ui.set({ ...unnarrowed(ui, 'services'), shopView: next })
    },
  }
}

export function shopWords(shown: ShopView, { counts, admin }: Shop): Line {
  return viewWords(admin ? shopViews : [shown], shown, counts)
}
