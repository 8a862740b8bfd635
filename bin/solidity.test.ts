import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { contracts } from '../daemon/ports/chain/evm/contracts/artifacts.testkit.ts'
import { walletContracts } from '../daemon/ports/chain/evm/contracts/wallets/artifacts.testkit.ts'
import { compiledContracts } from './solidity.ts'

// @deep compiles every contract

/** Creation code that a chain takes (EIP-3860). */
const MAX_CREATION_BYTES = 49_152

test('the committed contracts are, byte for byte, what their sources compile to', async () => {
  const compiled = await compiledContracts()
  expect(compiled.size).toBeGreaterThan(0)
  for (const [file, text] of compiled) {
    const committed = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
    expect(committed === text, `${file} is stale: npm run contracts`).toBe(true)
  }
})

test.each(Object.entries({ ...contracts, ...walletContracts }))('a chain takes the code of %s', (_, { bytecode }) => {
  expect(bytecode.length / 2 - 1).toBeLessThanOrEqual(MAX_CREATION_BYTES)
  expect(bytecode.length).toBeGreaterThan(20)
})
