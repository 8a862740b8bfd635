import { z } from 'zod'
import { type Usdc, usdc } from '../../core/money.ts'
import { compact } from '../../core/record.ts'
import { kebab, nearest } from '../../text/text.ts'
import { parseDuration } from '../duration.ts'
import { usage } from '../exit.ts'
import type { Globals, RawGlobals } from '../globals.ts'
import type { IoSettings } from '../io.ts'
import { membersOf, type OptionShape } from './schema.ts'

/** Refused without `--max-price`: one dollar. */
const DEFAULT_MAX_PRICE = usdc(1_000_000n)
const NUMBER = /^-?\d+(\.\d+)?$/

/** A duration flag: `30s`, `1h30m`; inside, milliseconds. */
export const Duration = z.codec(z.string(), z.number(), {
  decode: (text, context) => {
    const ms = parseDuration(text)
    if (ms !== undefined) return ms
    context.issues.push({ code: 'custom', message: 'must be a duration such as 30s or 1h30m', input: text })
    return z.NEVER
  },
  encode: (ms) => `${ms}ms`,
})

/** Reads positionals and options by the command's schemas. @throws CliError usage naming each bad one. */
export function readWords<A extends z.ZodObject, O extends z.ZodObject>(
  command: { name: string; args: A; options: O },
  words: { positionals: readonly unknown[]; options: Readonly<Record<string, unknown>> },
): { args: z.output<A>; options: z.output<O> } {
  const args = membersOf(command.args).flatMap(([key, shape], i) => {
    const given = words.positionals[i]
    return given === undefined || (Array.isArray(given) && given.length === 0 && !shape.required)
      ? []
      : [[key, typed(shape, given)]]
  })
  const options = membersOf(command.options).flatMap(([key, shape]) =>
    words.options[key] === undefined ? [] : [[key, typed(shape, words.options[key])]],
  )
  return {
    args: checked(command.args, Object.fromEntries(args), (key) => kebab(key).toUpperCase()),
    options: checked(command.options, Object.fromEntries(options), (key) => `--${kebab(key)}`),
  }
}

function typed(shape: OptionShape, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => typed(shape, one))
  return shape.kind === 'number' && typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
}

function checked<S extends z.ZodObject>(schema: S, value: unknown, nameOf: (key: string) => string): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const lines = result.error.issues.map((issue) => {
    const [key, ...rest] = issue.path
    const given = rest.reduce<unknown>(at, at(value, key))
    return `${nameOf(String(key))} ${sentence(issue, given)}`
  })
  throw usage(`${lines[0] ?? 'The command is incomplete'}.`, { facts: lines.slice(1) })
}

function at(value: unknown, key: PropertyKey | undefined): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key ?? '') : undefined
}

function sentence(issue: z.core.$ZodIssue, given: unknown): string {
  if (given === undefined) return 'is needed'
  const gave = `; you gave ${JSON.stringify(given)}`
  if (issue.code === 'invalid_value') {
    const near = nearest(
      String(given),
      issue.values.map((value) => String(value)),
    )
    return `must be one of ${issue.values.join(', ')}${gave}${near ? ` (did you mean ${near}?)` : ''}`
  }
  if (issue.code === 'invalid_type') return `must be a ${issue.expected}${gave}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${gave}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}${gave}`
  return issue.message.charAt(0).toLowerCase() + issue.message.slice(1) + gave
}

/** Global flags as typed values. @throws CliError usage. */
export async function readGlobals(raw: RawGlobals): Promise<Globals> {
  return {
    ...compact({
      remote: text(raw.remote),
      baseUrl: text(raw.baseUrl),
      as: text(raw.as),
      jq: text(raw.jq),
      confirm: text(raw.confirm),
      idempotencyKey: text(raw.idempotencyKey),
    }),
    pay: payChoice(raw.pay),
    maxPrice: await price(raw.maxPrice),
    header: raw.header === true,
    dryRun: raw.dryRun === true,
    yes: raw.yes === true,
    wait: raw.waitFor === undefined ? raw.wait === true : duration('--wait', raw.waitFor),
    ...(raw.timeout === undefined ? {} : { timeoutMs: duration('--timeout', raw.timeout) }),
    ...(typeof raw.fields === 'string' ? { fields: raw.fields.split(',').map((field) => field.trim()) } : {}),
  }
}

function text(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const payChoices = ['auto', 'balance', 'x402', 'none'] as const

function payChoice(value: string | boolean | undefined): Globals['pay'] {
  const choice = payChoices.find((one) => one === (value ?? 'auto'))
  if (choice === undefined) throw usage(`--pay must be one of ${payChoices.join(', ')}; you gave "${value}".`)
  return choice
}

async function price(value: string | boolean | undefined): Promise<Usdc> {
  if (typeof value !== 'string') return DEFAULT_MAX_PRICE
  const { parseAmount } = await import('../../core/money.ts')
  const amount = parseAmount(value)
  if (amount === undefined) throw usage(`--max-price must be an amount such as 1.50; you gave "${value}".`)
  return amount
}

function duration(flag: string, value: string | boolean): number {
  const ms = typeof value === 'string' ? parseDuration(value) : undefined
  if (ms === undefined) throw usage(`${flag} must be a duration such as 30s; you gave "${value}".`)
  return ms
}

/** How to print, known before the command's own flags are. */
export function ioSettings(raw: RawGlobals): IoSettings {
  const color = raw.color === 'always' || raw.color === 'never' ? raw.color : 'auto'
  return {
    format: formatOf(raw),
    color,
    quiet: raw.quiet === true,
    verbose: raw.verbose === true,
    debug: raw.debug === true || (typeof raw.debug === 'string' && raw.debug !== '0'),
    times: timesOf(raw),
    yes: raw.yes === true,
    ask: raw.noInput !== true,
  }
}

function timesOf(raw: RawGlobals): IoSettings['times'] {
  if (raw.iso === true) return 'iso'
  return raw.utc === true ? 'utc' : 'local'
}

function formatOf(raw: RawGlobals): IoSettings['format'] {
  if (raw.ndjson === true) return 'ndjson'
  if (raw.json === true || raw.jq !== undefined) return 'json'
  if (raw.tsv === true) return 'tsv'
  return raw.fields === undefined ? 'human' : 'json'
}
