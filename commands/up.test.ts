import { expect, test } from 'vitest'
import type { Io } from '../src/cli/io.ts'
import { command } from './up.ts'

/* What souk up says of the chain: who pays, and with which money. */

test.each([
  ['sandbox', /test money/],
  ['devnet', /test money/],
  ['base-sepolia', /test money .* you pay the gas/],
  ['base', /REAL MONEY/],
] as const)('on %s it says whose money is spent', (chain, said) => {
  const lines: string[] = []
  const io = { line: (text = '') => lines.push(text), hint: (text: string) => text, now: () => 0 } as unknown as Io // all that it uses
  const data = {
    state: 'running',
    chain,
    seed: null,
    clock: null,
    public_url: null,
    lan_url: null,
    took_ms: 0,
  } as const
  command.view(data as never, io) // the members that it shows
  expect(lines.find((line) => line.startsWith('  chain'))).toMatch(said)
})
