import { type CommerceResult, runCommerce } from '../../fixtures/commerce/run.ts'

const STEPS = 200

/** Random sequences of all of commerce, each step looked at; a fault is a throw that names its seed. */
export function run(sequences: number): Promise<CommerceResult> {
  return runCommerce({ sequences, steps: STEPS, seed: Math.floor(Date.now() / 1_000) })
}
