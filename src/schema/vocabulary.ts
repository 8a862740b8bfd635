import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import canonicalize from 'canonicalize'
import { formats } from './format.ts'
import { charge, patternEngine } from './pattern.ts'

export type SchemaValidate = ValidateFunction

/** `all` reports every error of a small value; `first` stops at one, so that a large value cannot grow the report. */
export type Reporting = 'all' | 'first'

/**
 * An Ajv for JSON Schema 2020-12 in which every keyword is linear in the value: patterns run on RE2, and the three
 * keywords that Ajv checks by comparing pairs or by rounding are ours.
 */
export function createAjv(reporting: Reporting): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: reporting === 'all',
    verbose: true,
    useDefaults: true,
    validateSchema: false,
    ownProperties: true,
    logger: false,
    code: { regExp: patternEngine },
  })
  for (const keyword of ['enum', 'uniqueItems', 'multipleOf']) ajv.removeKeyword(keyword)
  ajv.addKeyword({ keyword: 'enum', schemaType: 'array', compile: oneOfValues })
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile: allDifferent })
  ajv.addKeyword({ keyword: 'multipleOf', type: 'number', schemaType: 'number', compile: wholeMultiple })
  for (const [name, { check }] of Object.entries(formats)) {
    ajv.addFormat(name, (text: string) => {
      charge(text.length)
      return check(text)
    })
  }
  return ajv
}

function oneOfValues(values: readonly unknown[]): (value: unknown) => boolean {
  const keys = new Set(values.map(keyOf))
  return (value) => keys.has(keyOf(value))
}

function allDifferent(wanted: boolean): (items: readonly unknown[]) => boolean {
  return (items) => !wanted || new Set(items.map(keyOf)).size === items.length
}

/** Equal JSON values have equal keys. */
function keyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `"${value}` : value
  const text = canonicalize(value) ?? ''
  charge(text.length)
  return text
}

/** Exact in decimal: 0.07 is a multiple of 0.01 although their quotient as doubles is not whole. */
function wholeMultiple(of: number): (value: number) => boolean {
  const divisor = decimal(of)
  return (value) => {
    if (!Number.isFinite(value)) return false
    const dividend = decimal(value)
    const exponent = Math.min(dividend.exponent, divisor.exponent)
    return scaled(dividend, exponent) % scaled(divisor, exponent) === 0n
  }
}

type Decimal = { readonly digits: bigint; readonly exponent: number }

function decimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to)
}
