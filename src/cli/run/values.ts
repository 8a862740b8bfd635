import { type Usdc, usdc } from '../../core/money.ts'
import { compact } from '../../core/record.ts'
import { didYouMean, kebab, palettes } from '../../text/text.ts'
import type { Command } from '../command.ts'
import { usage } from '../exit.ts'
import { DEBUG_TOPICS, type Globals, type RawGlobals } from '../globals.ts'
import type { IoSettings } from '../io.ts'
import { membersOf, type OptionShape } from '../option-shape.ts'
import { type Issue, type ParamSet, parseDuration } from '../params.ts'

/** Spending limit of a command without `--max-price`: one dollar. */
const DEFAULT_MAX_PRICE = usdc(1_000_000n)
const NUMBER = /^-?\d+(\.\d+)?$/

type Values = Readonly<Record<string, unknown>>

/** Parses positionals and options. @throws CliError `usage`, which lists every fault */
export function readWords(
  command: Pick<Command, 'args' | 'options'>,
  words: { positionals: readonly unknown[]; options: Values },
): { args: Values; options: Values } {
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

function checked(words: ParamSet, value: unknown, nameOf: (key: string) => string): Values {
  const result = words.safeParse(value)
  if (result.success) return result.data
  const lines = result.error.issues.map((issue) => `${nameOf(String(issue.path[0]))} ${sentence(issue)}`)
  throw usage(`${lines[0] ?? 'The command is incomplete'}.`, { facts: lines.slice(1) })
}

function sentence({ message, given, choices }: Issue): string {
  if (given === undefined) return message
  return `${message}; you gave ${JSON.stringify(given)}${didYouMean(String(given), choices)}`
}

/** Global options as values. @throws CliError usage */
export async function readGlobals(raw: RawGlobals): Promise<Globals> {
  if (raw.palette !== undefined && !palettes.some((one) => one === raw.palette)) {
    throw usage(`--palette must be one of ${palettes.join(', ')}; you gave "${raw.palette}".`)
  }
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

/** Output settings from the global options. @throws CliError `usage` */
export function ioSettings(raw: RawGlobals): IoSettings {
  const color = raw.color === 'always' || raw.color === 'never' ? raw.color : 'auto'
  return {
    format: formatOf(raw),
    color,
    palette: palettes.find((one) => one === raw.palette) ?? 'default',
    ascii: raw.ascii === true,
    quiet: raw.quiet === true,
    verbose: raw.verbose === true,
    debug: debugOf(raw),
    times: timesOf(raw),
    yes: raw.yes === true,
    ask: raw.noInput !== true,
    pager: raw.noPager !== true,
  }
}

/** @throws CliError `usage` for an unknown topic */
function debugOf({ debug, debugTopic: topic }: RawGlobals): IoSettings['debug'] {
  if (typeof topic === 'string' && !DEBUG_TOPICS.includes(topic)) {
    throw usage(`--debug takes no value or one of ${DEBUG_TOPICS.join(', ')}; you gave "${topic}".`)
  }
  if (debug === true) return 'everything'
  return topic === undefined ? 'nothing' : 'http'
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
