import type { ScreenId } from '../../nouns/screens.ts'
import type { Host } from './screen.ts'
import { goTo, type Ui, unnarrowed } from './ui.ts'

/** Which screen lists a record, by the form of its id, and the view that has all records of that kind. */
const places: readonly (readonly [id: RegExp, screen: ScreenId, all: (ui: Ui) => Partial<Ui>, field?: 'wallet'])[] = [
  [/^job_/, 'jobs', () => ({ jobView: 'all', jobTab: 'timeline' })],
  [/^thr_/, 'threads', () => ({ threadView: 'all' })],
  [/^svc_/, 'services', () => ({ shopView: 'services' })],
  [/^plan_/, 'services', () => ({ shopView: 'plans' })],
  [/^sub_/, 'services', () => ({ shopView: 'subscriptions' })],
  [/^prod_/, 'services', () => ({ shopView: 'products' })],
  [/^post_/, 'requests', () => ({ requestView: 'all' })],
  [/^p_/, 'people', () => ({})],
  [/^out_/, 'money', () => ({ moneyView: 'payouts' })],
  [/^whd_/, 'logs', ({ logs }) => ({ logs: { ...logs, view: 'webhooks' } })],
  [/^0x[0-9a-f]{40}$/i, 'people', () => ({}), 'wallet'],
]
const WHOLE_ID = /^(?:[a-z]+_[0-9a-f]{16}|0x[0-9a-f]{40})$/i

/** The screen that lists a record. `go` opens it there. Undefined for an incomplete id or a kind without list. */
export function placeOf(host: Host, id: string): { readonly screen: ScreenId; readonly go: () => void } | undefined {
  const place = WHOLE_ID.test(id) ? places.find(([form]) => form.test(id)) : undefined
  if (place === undefined) return undefined
  const [, screen, all, field = 'id'] = place
  return {
    screen,
    go() {
      const ui = unnarrowed(goTo(host.ui.get(), screen), screen)
      const filters = { ...ui.filters, [screen]: `${field}:${id}` }
      host.ui.set({ ...ui, ...all(ui), filters, chosen: { ...ui.chosen, [screen]: id } })
    },
  }
}
