import { MAX_VALIDATION_STEPS } from './limits.ts'

/** Thrown inside a validation that would cost more than its budget; never leaves the engine. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

let stepsUsed = 0

/** Pays for work before it is done; validations are synchronous, so one counter serves them all. */
export function charge(steps: number): void {
  if (stepsUsed + steps > MAX_VALIDATION_STEPS) throw new BudgetSpent('validation budget spent')
  stepsUsed += steps
}

/** Opens the budget of the next validation. */
export function openBudget(): void {
  stepsUsed = 0
}
