import { expect, test } from 'vitest'
import { entries } from '../commands/index.ts'
import { endpointNames } from '../src/api/index.ts'
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
