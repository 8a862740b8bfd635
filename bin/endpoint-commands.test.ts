import { expect, test } from 'vitest'
import { entries } from '../commands/index.ts'
import { runLine } from '../fixtures/kit/command-line.testkit.ts'
import { api, endpointNames } from '../src/api/index.ts'
import { groups } from '../src/cli/run/groups.ts'
import { formatPrice } from '../src/core/money.ts'
import { endpointCommands } from './endpoint-commands.ts'

/* Nothing of the interface needs another program than souk. */

const rows = await endpointCommands()

test('every endpoint has a command that calls it, or is a page or a callback', () => {
  expect(rows.map(({ name }) => name)).toEqual(endpointNames)
  expect(rows.filter(({ commands, apart }) => commands.length === 0 && apart === undefined)).toEqual([])
})

test('the commands that are named can be typed', () => {
  const names = new Set(entries.map(({ name }) => name))
  for (const { commands } of rows) for (const name of commands) expect(names).toContain(name)
})

test('what only a page shows, or somebody else calls, is no more than that', () => {
  const apart = rows.filter(({ commands }) => commands.length === 0)
  expect(apart.map(({ name }) => name).sort()).toEqual([
    'getConsentPage',
    'getDocs',
    'getHome',
    'getSupportedPayments', // servers of others ask the facilitator these four
    'listFacilitatedResources',
    'openTrace',
    'receiveVendorCallback',
    'settlePayment',
    'verifyPayment',
  ])
})

test('every command that pays says its price and the limit in its help', async () => {
  let shown = 0
  for (const { name, commands } of rows) {
    const { access } = api[name]
    if (access.kind !== 'paid') continue
    // It signs what `souk api` then sends; the path is the user's.
    for (const command of commands.filter((one) => one !== 'wallet sign')) {
      const { out } = await runLine({ entries, groups }, [...command.split(' '), '--help'])
      const [, , summary = ''] = out.split('\n')
      expect([command, summary]).toEqual([
        command,
        expect.stringContaining(access.price === 'varies' ? '' : `(${formatPrice(access.price)})`),
      ])
      expect([command, out]).toEqual([command, expect.stringMatching(/--max-price <usd> .*\(default:\s+1\.00\)/s)])
      shown += 1
    }
  }
  expect(shown).toBeGreaterThan(15)
})
