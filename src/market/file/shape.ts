import { z } from 'zod'
import { CliError, usage } from '../../cli/exit.ts'
import { parseDocument, textOf } from '../../cli/files/document.ts'
import type { Io } from '../../cli/io.ts'
import { MAX_NAME_CHARS, MAX_TEXT_CHARS } from '../../core/limits.ts'
import { didYouMean } from '../../text/text.ts'

/** Size limits of a seed file. */
export const MAX_SEED_BYTES = 1024 * 1024
const MAX_PEOPLE = 50
const MAX_SERVICES = 200
const MAX_ACTS = 1_000

const Name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,31}$/, 'must be lower-case letters, digits, ".", "-" or "_"')
const Label = z.string().min(1).max(MAX_NAME_CHARS)
const Text = z.string().min(1).max(MAX_TEXT_CHARS)
const Usd = z.string().regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be an amount in quotes, such as "0.50"')
const Json = z.record(z.string(), z.json())

const Someone = z.strictObject({
  /** Wallet name. An existing wallet of that name is used. */
  name: Name,
  title: Label.optional(),
  type: z.enum(['agent', 'provider', 'both']).default('both'),
  funds: Usd.default('10.00'),
  deposit: Usd.optional(),
})

/** Listing fields; the instance validates them. */
const Offer = z.looseObject({ by: Name, name: Label })

const acts = {
  buy: z.strictObject({
    who: Name,
    service: Label,
    input: Json.default({}),
    from: z.enum(['x402', 'balance']).default('x402'),
    as: Label,
  }),
  message: z.strictObject({ who: Name, job: Label, text: Text }),
  start: z.strictObject({ job: Label }),
  deliver: z.strictObject({ job: Label, deliverables: Json, notes: Text.optional() }),
  fail: z.strictObject({ job: Label, notes: Text.optional() }),
  verify: z.strictObject({ job: Label, rating: z.int().min(1).max(5).optional(), comment: Text.optional() }),
  dispute: z.strictObject({ job: Label, reason: Text }),
} as const
export type ActName = keyof typeof acts
export const actNames = Object.keys(acts) as readonly ActName[] // the keys of it

const Act = z
  .strictObject({
    buy: acts.buy.optional(),
    message: acts.message.optional(),
    start: acts.start.optional(),
    deliver: acts.deliver.optional(),
    fail: acts.fail.optional(),
    verify: acts.verify.optional(),
    dispute: acts.dispute.optional(),
  })
  .refine((one) => Object.values(one).filter(Boolean).length === 1, `must be one of ${Object.keys(acts).join(', ')}`)
export type Act = z.output<typeof Act>

/** People, listings, and actions (`acts`) in order. */
export const SeedFile = z.strictObject({
  people: z.array(Someone).min(1).max(MAX_PEOPLE),
  services: z.array(Offer).max(MAX_SERVICES).default([]),
  acts: z.array(Act).max(MAX_ACTS).default([]),
})
export type SeedFile = z.output<typeof SeedFile>
export type Someone = z.output<typeof Someone>

/** A fault with its path: `acts.2.buy.who`. */
export type Fault = { readonly path: string; readonly message: string }

/** All faults of a file; empty if valid. */
export function faultsOf(document: unknown): readonly Fault[] {
  const read = SeedFile.safeParse(document)
  if (read.success) return [...repeated(read.data), ...dangling(read.data)]
  return read.error.issues.flatMap((issue) => faultsIn(issue, document))
}

/** Allowed fields at a path. */
function membersAt(path: readonly PropertyKey[]): readonly string[] {
  const [list, , act] = path.map(String)
  if (list === undefined) return Object.keys(SeedFile.shape)
  if (list === 'people') return Object.keys(Someone.shape)
  const name = actNames.find((one) => one === act)
  return name === undefined ? actNames : Object.keys(acts[name].shape)
}

const expectedWords: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'a set of fields',
  record: 'a set of fields',
}

/** Translates a schema issue into faults with our own messages. */
function faultsIn(issue: z.core.$ZodIssue, document: unknown): Fault[] {
  const at = issue.path.join('.')
  const path = at || 'the file'
  if (issue.code === 'unrecognized_keys') {
    const known = membersAt(issue.path)
    return issue.keys.map((key) => ({
      path: at ? `${at}.${key}` : key,
      message: `unknown field${didYouMean(key, known)}`,
    }))
  }
  if (issue.code === 'invalid_type') {
    const isMissing = valueAt(document, issue.path) === undefined
    const expected = expectedWords[issue.expected] ?? issue.expected
    return [{ path, message: isMissing ? 'required' : `must be ${expected}` }]
  }
  if (issue.code === 'invalid_value') return [{ path, message: `must be one of ${issue.values.join(', ')}` }]
  if (issue.code === 'too_big') return [{ path, message: `at most ${issue.maximum}` }]
  if (issue.code === 'too_small') return [{ path, message: `at least ${issue.minimum}` }]
  return [{ path, message: issue.message }]
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    document,
  )
}

function repeated({ people, services, acts: list }: SeedFile): Fault[] {
  const names = [
    ...people.map(({ name }, i) => ({ path: `people.${i}.name`, name })),
    ...services.map(({ name }, i) => ({ path: `services.${i}.name`, name })),
    ...list.flatMap(({ buy }, i) => (buy ? [{ path: `acts.${i}.buy.as`, name: buy.as }] : [])),
  ]
  const kind = (path: string) => path.split('.')[0]
  return names
    .filter((one, at) =>
      names.slice(0, at).some((other) => other.name === one.name && kind(other.path) === kind(one.path)),
    )
    .map(({ path, name }) => ({ path, message: `duplicate ${name}` }))
}

/** Faults for people, services and jobs that the file names but does not define. */
function dangling({ people, services, acts: list }: SeedFile): Fault[] {
  const known: Known = {
    person: new Set(people.map(({ name }) => name)),
    service: new Set(services.map(({ name }) => name)),
    job: new Set(),
  }
  const sellers = services.flatMap(({ by }, i) => unknown(known, 'person', { path: `services.${i}.by`, name: by }))
  return [...sellers, ...list.flatMap((act, i) => danglingIn(known, act, `acts.${i}`))]
}

type Known = Readonly<Record<'person' | 'service' | 'job', Set<string>>>
const kindOf = { who: 'person', service: 'service', job: 'job' } as const

/** Faults for undefined names in an action. The action that buys a job defines the job's name. */
function danglingIn(known: Known, act: Act, at: string): Fault[] {
  const [name, one] = actNames.flatMap((key) => (act[key] ? [[key, act[key]] as const] : []))[0] ?? []
  if (!one) return []
  const members: Readonly<Record<string, unknown>> = one
  const faults = (['who', 'service', 'job'] as const).flatMap((member) => {
    const named = members[member]
    return typeof named === 'string'
      ? unknown(known, kindOf[member], { path: `${at}.${name}.${member}`, name: named })
      : []
  })
  if (act.buy) known.job.add(act.buy.as)
  return faults
}

function unknown(known: Known, kind: keyof Known, { path, name }: { path: string; name: string }): Fault[] {
  return known[kind].has(name)
    ? []
    : [{ path, message: `unknown ${kind} ${name}${kind === 'job' ? ' (not bought yet)' : ''}` }]
}

const STDIN = '-'
const MAX_SHOWN = 10

/** Reads and validates a seed file. @throws CliError `usage`, with the paths of faulty fields */
export async function checkedSeed(io: Pick<Io, 'stdin'>, file: string): Promise<SeedFile> {
  const text = file === STDIN ? await io.stdin() : textOf(file)
  if (Buffer.byteLength(text) > MAX_SEED_BYTES) throw usage(`${file} is larger than ${MAX_SEED_BYTES / 1024} KiB.`)
  const document = await parseDocument(text, file)
  const faults = faultsOf(document)
  if (faults.length === 0) return SeedFile.parse(document)
  throw new CliError('usage', `${file} is not a valid seed file; nothing was done.`, {
    facts: faults.slice(0, MAX_SHOWN).map(({ path, message }) => `${path}: ${message}`),
    next: ['souk help seed load'],
  })
}
