import { planFields, postingFields, productFields, subscriptionFields } from '../../api/endpoint/list-fields.ts'
import { plan } from '../../nouns/plans.ts'
import { posting } from '../../nouns/postings.ts'
import { product } from '../../nouns/products.ts'
import { subscription } from '../../nouns/subscriptions.ts'
import { listScreen } from '../list/nouns.ts'
import { refuse } from '../shell/ask.ts'
import { viewWords } from '../shell/finding.ts'
import type { Face, Host, Screen, View } from '../shell/screen.ts'
import type { Ui } from '../shell/ui.ts'
import { shopActions, shopWords, useShop } from './shop.ts'

const id = 'services'
/** The views of the market. Each is a list with its own hooks. */
const lists = {
  plans: listScreen({
    id,
    noun: plan,
    fields: planFields,
    title: 'Plans',
  }),
  subscriptions: listScreen({
    id,
    noun: subscription,
    fields: subscriptionFields,
    title: 'Subscriptions',
  }),
  requests: listScreen({
    id,
    noun: posting,
    fields: postingFields,
    title: 'Requests for work',
  }),
  products: listScreen({
    id,
    noun: product,
    fields: productFields,
    title: 'Products',
  }),
}

export function useMarket(host: Host, view: View): ReturnType<Screen['use']> {
  const shown = view.ui.shopView === 'services' ? 'plans' : view.ui.shopView
  const shop = useShop(host, view)
  const useList = lists[shown]
  return useList(host, view, {
    viewsOf: () => shopWords(shown, shop),
    tabs: viewWords(tabs, tabOf(view.ui)).slice(1),
    isRaw: tabOf(view.ui) === 'json',
    actions: () => ({
      ...shopActions(host, view),
      ...tabActions(host),
      testHook: () => refuse(host, 'Only a listing has an endpoint to test.  → v services'),
    }),
  })
}

const tabs = ['about', 'json'] as const

/** The current tab. The tabs that only listings have count as `about` here. */
function tabOf({ serviceTab }: Ui): (typeof tabs)[number] {
  return serviceTab === 'json' ? 'json' : 'about'
}

function tabActions({ ui }: Host): Face['actions'] {
  const turn = () => ui.set({ ...ui.get(), serviceTab: tabOf(ui.get()) === 'json' ? 'about' : 'json' })
  return { nextTab: turn, previousTab: turn }
}
