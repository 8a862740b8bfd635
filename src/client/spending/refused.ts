/** A refused payment with its rule and remedy; nothing was signed. */
export class SpendRefused extends Error {
  override readonly name = 'SpendRefused'
  readonly rule: string
  readonly facts: readonly string[]
  /** Commands that help. */
  readonly next: readonly string[]
  constructor(rule: string, message: string, { facts, next }: Pick<SpendRefused, 'facts' | 'next'>) {
    super(message)
    this.rule = rule
    this.facts = facts
    this.next = next
  }
}
