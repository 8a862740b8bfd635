/** A payment that is not made: which rule stands in the way, and what would change it. Nothing was signed. */
export class SpendRefused extends Error {
  override readonly name = 'SpendRefused'
  readonly rule: string
  readonly facts: readonly string[]
  /** Commands that lead out, as typed. */
  readonly next: readonly string[]
  constructor(rule: string, message: string, { facts, next }: Pick<SpendRefused, 'facts' | 'next'>) {
    super(message)
    this.rule = rule
    this.facts = facts
    this.next = next
  }
}
