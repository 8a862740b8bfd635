import { compact } from '../core/record.ts'
import { kebab } from '../text/text.ts'
import type { AnyParam, ParamSet } from './params.ts'

/** Shape of a command line value. */
export type OptionShape = {
  readonly kind: 'flag' | 'text' | 'number' | 'choice'
  readonly list: boolean
  readonly required: boolean
  readonly choices: readonly string[]
  /** The default as a user would type it. */
  readonly fallback: unknown
  readonly short?: string
  /** Placeholder in the help text. */
  readonly value: string
  readonly summary: string
}

export function shapeOf({ facts }: AnyParam): OptionShape {
  const one = facts.element?.facts ?? facts
  const kind = one.kind === 'list' ? 'text' : one.kind
  const { short, value, description } = { ...one.meta, ...facts.meta }
  return {
    kind,
    list: facts.kind === 'list',
    choices: one.choices,
    required: !facts.optional && kind !== 'flag',
    fallback: facts.fallback === undefined ? undefined : (facts.typed?.(facts.fallback) ?? facts.fallback),
    value: value ?? placeholder(kind, one.choices),
    summary: description ?? '',
    ...compact({ short }),
  }
}

function placeholder(kind: OptionShape['kind'], choices: readonly string[]): string {
  if (kind === 'choice') return choices.join('|')
  return kind === 'number' ? 'n' : 'text'
}

/** The flag as typed: `--limit`, or `--no-ripe` if the option is on by default. */
export function flagOf(key: string, shape: OptionShape): string {
  return shape.kind === 'flag' && shape.fallback === true ? `--no-${kebab(key)}` : `--${kebab(key)}`
}

/** Members of a declaration with their shapes, in order. */
export function membersOf(words: ParamSet): readonly (readonly [string, OptionShape])[] {
  return Object.entries(words.shape).map(([key, member]) => [key, shapeOf(member)] as const)
}
