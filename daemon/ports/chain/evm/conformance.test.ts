import { afterAll, beforeAll, describe } from 'vitest'
import { moneyConformance } from '../conformance/money.testkit.ts'
import { registryConformance } from '../conformance/registries.testkit.ts'
import { startTestChain, type TestChain } from './anvil/anvil.testkit.ts'
import { openEvmBench, testChainFlags } from './evm.testkit.ts'

// @slow every rule of a chain, on a real one

let testChain: TestChain
beforeAll(async () => {
  testChain = await startTestChain(testChainFlags)
})
afterAll(() => testChain.stop())

describe('a connected EVM', () => {
  moneyConformance(() => openEvmBench(testChain), 6)
  registryConformance(() => openEvmBench(testChain))
})
