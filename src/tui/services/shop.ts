import type { Link, Outcome } from '../../client/link.ts'
import type { Line } from '../parts/line.ts'
import { refuse } from '../shell/ask.ts'
import { viewWords } from '../shell/finding.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Face, Host, View } from '../shell/screen.ts'
import { type ShopView, shopViews, unnarrowed } from '../shell/ui.ts'

type ShopCounts = Readonly<Partial<Record<ShopView, number>>>

/** Fetches how many objects of each kind the market has. A kind whose request fails is omitted. */
const fetchShopCounts =
  (link: Link, admin: boolean) =>
  async (signal: AbortSignal): Promise<Outcome<ShopCounts>> => {
    if (!admin) return { ok: true, value: {} }
    const asked = { query: { limit: '1' }, signal }
    const total = (answer: { readonly total: number }) => answer.total
    const [services, plans, subscriptions, requests, products] = await Promise.all([
      ask(link, { name: 'listAllServices', asked }, total),
      ask(link, { name: 'listAllPlans', asked }, total),
      ask(link, { name: 'listAllSubscriptions', asked }, total),
      ask(link, { name: 'listAllPostings', asked }, total),
      ask(link, { name: 'listAllProducts', asked }, total),
    ])
    const told = Object.entries({ services, plans, subscriptions, requests, products }).flatMap(([name, answer]) =>
      answer.ok ? [[name, answer.value] as const] : [],
    )
    return { ok: true, value: Object.fromEntries(told) }
  }

export type Shop = { readonly counts: ShopCounts; readonly admin: boolean }

export function useShop(host: Host, { where }: View): Shop {
  const isKnown = where?.admin === true
  const asked = { name: `shop counts ${isKnown}`, every: SLOW_EVERY_MS }
  return { counts: useQuery(fetchShopCounts(host.link, isKnown), asked).value ?? {}, admin: where?.admin !== false }
}

/** The action of `v`: the next view. Only the operator has more than one. */
export function shopActions(host: Host, { where }: View): Face['actions'] {
  return {
    view() {
      const ui = host.ui.get()
      const next = shopViews[(shopViews.indexOf(ui.shopView) + 1) % shopViews.length]
      if (where?.admin === false)
        refuse(host, `Only the administrator can see all trades.  → ${shellCommand(host, ['plans', 'list'])}`)
      else if (next !== undefined) host.ui.set({ ...unnarrowed(ui, 'services'), shopView: next })
    },
  }
}

export function shopWords(shown: ShopView, { counts, admin }: Shop): Line {
  return viewWords(admin ? shopViews : [shown], shown, counts)
}
