import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { widthOf } from '../../text/text.ts'
import { tmuxVersion } from '../tmux.testkit.ts'
import { agree, ask, closeMarket, json, openMarket, SIZES, souk, terminalOf, words } from '../walk.testkit.ts'

// @slow a terminal with a living market

/* The whole market in real terminals: what the views of Services say is what the interface and the command line say. */

const tmux = await tmuxVersion()

beforeAll(() => (tmux === undefined ? undefined : openMarket(process.env.PATH)))
afterAll(() => (tmux === undefined ? undefined : closeMarket()))

type View = {
  readonly name: string
  /** What each row says, the first in sight first. */
  readonly rows: () => Promise<readonly { readonly name: string; readonly amount: string; readonly id: string }[]>
  /** The same by the command line. */
  readonly command: readonly string[]
  readonly key: string
}

const views: readonly View[] = [
  {
    name: 'plans',
    rows: async () =>
      (await ask('listAllPlans')).plans.map(({ plan_id: id, name, agent_price }) => ({
        id,
        name,
        amount: `$${agent_price}`,
      })),
    command: ['admin', 'plans', 'list'],
    key: 'plans',
  },
  {
    name: 'subscriptions',
    rows: async () =>
      (await ask('listAllSubscriptions')).subscriptions.map(({ subscription_id: id, plan_name: name, amount }) => ({
        id,
        name,
        amount: `$${amount}`,
      })),
    command: ['admin', 'subs', 'list'],
    key: 'subscriptions',
  },
  {
    name: 'requests',
    rows: async () =>
      (await ask('listAllPostings')).postings.map(({ posting_id: id, title: name, budget_max_usd: most }) => ({
        id,
        name,
        amount: `$${most.toFixed(2)}`,
      })),
    command: ['admin', 'requests', 'list'],
    key: 'postings',
  },
  {
    name: 'products',
    rows: async () =>
      (await ask('listAllProducts')).products.map(({ product_id: id, name, agent_price }) => ({
        id,
        name,
        amount: `$${agent_price}`,
      })),
    command: ['admin', 'products', 'list'],
    key: 'products',
  },
]

describe.skipIf(tmux === undefined).each(SIZES)('in a terminal of %i x %i', (columns) => {
  it('v walks the whole market, and each view says what the interface says', async () => {
    const terminal = terminalOf(columns)
    await terminal.type('2')
    for (const { name, rows, command, key } of views) {
      await terminal.type('v')
      const there = await rows()
      expect(there.length).toBeGreaterThan(0)
      const [first] = there
      const screen = await agree(
        terminal,
        words(async () => [
          new RegExp(`\\[${name} ${there.length}\\]`),
          `─ ${first?.id}`,
          ...there.map(
            ({ name: called, amount }) => new RegExp(`${called.slice(0, 8)}.*${amount.replace('$', '\\$')}\\b`),
          ),
        ]),
      )
      for (const row of screen) expect(widthOf(row)).toBeLessThanOrEqual(columns)
      const told = await json(...command)
      expect(told[key].map(({ id }: { id: string }) => id)).toEqual(there.map(({ id }) => id))
      await terminal.type(`/${first?.id}`)
      await terminal.press('Enter')
      await terminal.see('1 of 1')
      await terminal.type('e')
      await terminal.see(`"id": "${first?.id}"`)
      await terminal.type('e')
      await terminal.press('Escape')
      await terminal.see(`${there.length} of ${there.length}`)
    }
    await terminal.type('v')
    await terminal.see(/\[services \d+\]/)
  })
})

/** Where the message says it whole. */
const roomy = SIZES.filter(([columns]) => columns > 60)

describe.skipIf(tmux === undefined).each(roomy)('in a terminal of %i x %i', (columns) => {
  it('c copies a command that runs', async () => {
    const terminal = terminalOf(columns)
    await terminal.type('2vv')
    await terminal.see(/\[subscriptions \d+\]/)
    await terminal.type('c')
    const shown = (await terminal.see('copied  souk ')).join('\n')
    const [, line = ''] = /copied {2}souk (.*?)\s*$/m.exec(shown) ?? []
    const { subscriptions } = JSON.parse(await souk(...line.split(' '), '--json'))
    expect(subscriptions.map(({ id }: { id: string }) => id)).toEqual([line.split('id:')[1]])
    await terminal.type('vvv')
    await terminal.see(/\[services \d+\]/)
  })
})
