import { afterEach, describe, expect, it } from 'vitest'
import type { Problem } from '../client/link.ts'
import type { ScreenId } from '../nouns/screens.ts'
import { type FakeLink, type Opened, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'
import { screens } from './screens.ts'

/* A remote that takes connections and never answers: every screen says so, keys work, and it closes at once. */

let open: Opened | undefined
afterEach(() => {
  open?.close()
  open = undefined
})

const LIMIT_MS = 5_000
const silent: Problem = {
  kind: 'gone',
  sentence: 'prod-eu did not answer in time.',
  facts: ['https://prod.example'],
  next: ['souk remote list'],
}
const all = screens.map(({ id }) => id)

/** A cockpit whose remote hangs from some moment on: its requests end by their time limit, or are cancelled. */
async function remote(screen: ScreenId) {
  const link = market({}, { name: 'prod-eu', guarded: true, option: '-r prod-eu' })
  const { call } = link
  let isHung = false
  const hanging: FakeLink = Object.assign(link, {
    call: ((name, asked) =>
      isHung
        ? new Promise((resolve) => opened.clock.later(LIMIT_MS, () => resolve({ ok: false, problem: silent })))
        : call(name, asked)) as FakeLink['call'],
  })
  const opened = await openOn({ link: hanging, screen, columns: 100, rows: 30 })
  open = opened
  return {
    ...opened,
    hang(on = true) {
      isHung = on
    },
  }
}

describe('a remote that hangs', () => {
  it.each(all)('is named on %s, with the age of what is shown and no key that starts it', async (screen) => {
    const { hang, advance, text, rows } = await remote(screen)
    await advance(1_000)
    hang()
    await advance(20_000)
    expect(rows()[0]).toMatch(/prod-eu · remote {2}✗ no answer, \d+s/)
    expect(rows()[0]).not.toMatch(/trading|live|tries again in 0s/)
    expect(text()).toContain('prod-eu did not answer in time.')
    expect(text()).toContain('→ souk remote list')
    expect(text()).not.toMatch(/start it|daemon gone/)
  })

  it.each(all)('leaves %s usable: help, other screens and q work while requests hang', async (screen) => {
    const { hang, advance, type, text, host, exited } = await remote(screen)
    hang()
    await advance(1_000)
    await type('?')
    expect(text()).toContain('╭─ Keys for ')
    await type('\u001B')
    await advance(1_000)
    for (const [key, id] of [
      ['3', 'jobs'],
      ['7', 'money'],
      ['1', 'overview'],
    ] as const) {
      await type(key)
      expect(host.ui.get().screen).toBe(id)
    }
    await type('q')
    expect(exited()).toBe(true)
  })

  it('says on a screen that was never answered what is missing, after the time limit', async () => {
    const { hang, advance, type, text } = await remote('overview')
    await advance(1_000)
    hang()
    await type('3')
    await advance(1_000)
    expect(text()).toContain('asking…')
    await advance(LIMIT_MS)
    expect(text()).toMatch(/ ✗ prod-eu did not answer in time\. +\n {3}https:\/\/prod\.example/)
  })

  it('is shown again as soon as it answers', async () => {
    const { hang, advance, rows } = await remote('overview')
    await advance(1_000)
    hang()
    await advance(10_000)
    expect(rows()[0]).toContain('✗ no answer')
    hang(false)
    await advance(10_000)
    expect(rows()[0]).toContain('● trading')
  })
})
