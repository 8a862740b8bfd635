import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { endpointTable } from './api/table.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the endpoint table is the contract: `npm run docs` writes it', () => {
  const table = /<!-- endpoints:start -->\n([\s\S]*?)\n<!-- endpoints:end -->/.exec(readme)?.[1]
  expect(table).toBe(endpointTable())
})
