import { afterEach, expect, it } from 'vitest'
import { screenIds } from '../nouns/screens.ts'
import { type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { keyLabel } from './parts/keys.ts'
import { bindings } from './shell/bindings.ts'

let open: Opened | undefined
afterEach(() => open?.close())

const acts = bindings.flatMap(({ changes, keys, action, on }) =>
  changes ? screenIds.filter((screen) => on?.includes(screen) ?? true).map((screen) => ({ screen, action, keys })) : [],
)

it.each(acts)('a read-only cockpit does not $action on $screen, and does not offer to', async ({ screen, keys }) => {
  const link = market()
  open = await openOn({ link, screen, readonly: true, columns: 160, rows: 50 })
  const before = open.text()
  for (const key of keys) await open.type(key)
  expect(open.host.ui.get().dialog).toBeUndefined()
  expect(open.text()).toBe(before)
  expect(link.calls.filter(({ method }) => method !== 'GET')).toEqual([])
  await open.type('?')
  for (const key of keys) expect(open.text()).not.toMatch(new RegExp(`│ +(?:[A-Z]+ +)?${keyLabel(key)} {2,}`))
})

it('there are acts on most screens to be refused', () => {
  expect(acts.length).toBeGreaterThan(screenIds.length)
})
