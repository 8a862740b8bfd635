import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventsPage } from '../bin/events.ts'
import { statesPage } from '../bin/states.ts'
import { clientLines } from './api/endpoint/published-clients.ts'
import { pricePromises } from './api/price-promises.ts'
import { endpointTable } from './api/table.ts'

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

test('the endpoint table is the contract: `npm run docs` writes it', () => {
  const table = /<!-- endpoints:start -->\n([\s\S]*?)\n<!-- endpoints:end -->/.exec(read('README.md'))?.[1]
  expect(table).toBe(endpointTable())
})

test('the list of published clients is the one that 402s name: `npm run docs` writes it', () => {
  const list = /<!-- clients:start -->\n([\s\S]*?)\n<!-- clients:end -->/.exec(read('README.md'))?.[1]
  expect(list).toBe(clientLines().join('\n'))
})

test('what a price promises is what every other guide says: `npm run docs` writes it', () => {
  const list = /<!-- prices:start -->\n([\s\S]*?)\n<!-- prices:end -->/.exec(read('README.md'))?.[1]
  expect(list).toBe(pricePromises.join('\n'))
})

test('the page of states is the tables that the daemon obeys: `npm run docs` writes it', async () => {
  expect(read('docs/states.md')).toBe(await statesPage())
})

test('the page of events is what the daemon can write: `npm run docs` writes it', () => {
  expect(read('docs/events.md')).toBe(eventsPage())
})
