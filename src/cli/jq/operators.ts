import { isObject, type Json } from '../../core/json.ts'
import { equal, isArray, JqError, objectFrom, shown } from './values.ts'

type Operator = '+' | '-' | '*' | '/' | '%'

const numbers: Readonly<Record<Operator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => Math.trunc(a) % Math.trunc(b),
}

/** Arithmetic as jq does it: numbers, and what `+`, `-` and `/` mean for texts, lists and objects. */
export function arithmetic(operator: Operator, a: Json, b: Json): Json {
  if (typeof a === 'number' && typeof b === 'number') return onNumbers(operator, a, b)
  const result = operator === '+' ? sum(a, b) : other(operator, a, b)
  if (result !== undefined) return result
  throw new JqError(`${shown(a)} and ${shown(b)} cannot be combined by ${operator}`)
}

function onNumbers(operator: Operator, a: number, b: number): number {
  if ((operator === '/' || operator === '%') && Math.trunc(b) === 0 && (operator === '%' || b === 0)) {
    throw new JqError(`${a} cannot be divided by zero`)
  }
  return numbers[operator](a, b)
}

function sum(a: Json, b: Json): Json | undefined {
  if (a === null) return b
  if (b === null) return a
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (isArray(a) && isArray(b)) return [...a, ...b]
  return isObject(a) && isObject(b) ? objectFrom([...Object.entries(a), ...Object.entries(b)]) : undefined
}

function other(operator: Operator, a: Json, b: Json): Json | undefined {
  if (operator === '-' && isArray(a) && isArray(b)) return a.filter((one) => !b.some((gone) => equal(one, gone)))
  if (operator === '/' && typeof a === 'string' && typeof b === 'string') return a.split(b)
  return undefined
}
