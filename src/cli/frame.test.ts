import { describe, expect, it } from 'vitest'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import { AppError } from '../core/error.ts'
import { type Command, defineCommand, type Entry, type Group } from './command.ts'
import { CliError } from './exit.ts'
import { printRows } from './output.ts'
import * as z from './params.ts'
import { Duration } from './params.ts'

type Fruit = { id: string; name: string; price: bigint; taste: { sweet: boolean } }

const fruits: Fruit[] = [
  { id: 'f1', name: 'Apple of the old garden behind the house', price: 12n, taste: { sweet: true } },
  { id: 'f2', name: 'Lemon\u001B[31m\u202E\u009B', price: 345n, taste: { sweet: false } },
]

const columns = [
  { title: 'ID', value: ({ id }: Fruit) => id },
  { title: 'NAME', value: ({ name }: Fruit) => name, flexible: true as const },
  { title: 'PRICE', value: ({ price }: Fruit) => String(price), align: 'right' as const },
  { title: 'SWEET', value: ({ taste }: Fruit) => (taste.sweet ? 'yes' : 'no'), drop: 1 },
]

const list = defineCommand({
  name: 'fruits list',
  summary: 'list the fruits',
  args: z.object({ kind: z.string().optional(), more: z.array(z.string()).default([]) }),
  options: z.object({
    limit: z.int().min(1).max(9).default(2).meta({ description: 'rows' }),
    sort: z.enum(['name', 'price']).optional(),
    since: Duration.optional(),
    tag: z.array(z.string()).default([]).meta({ short: 't' }),
    ripe: z.boolean().default(true),
    input: z.string().optional(),
  }),
  examples: ['souk fruits list', 'souk fruits list red --limit 1'],
  run: async ({ args, options, globals }) => ({
    total: 2,
    fruits: fruits.slice(0, options.limit),
    args,
    options,
    wait: globals.wait,
  }),
  rows: (data) => data.fruits,
  columns,
  view: (data, io) => printRows(io, columns, data.fruits),
})

const failing = (name: string, error: Error) =>
  defineCommand({
    name,
    summary: 'fail',
    args: z.object({}),
    options: z.object({}),
    examples: [`souk ${name}`, `souk ${name} --json`],
    run: async (): Promise<null> => {
      throw error
    },
    view: () => undefined,
  })

const stream = defineCommand({
  name: 'watch',
  summary: 'follow',
  args: z.object({}),
  options: z.object({}),
  examples: ['souk watch', 'souk watch --ndjson'],
  async *run() {
    yield* fruits
  },
  view: ({ name }, io) => io.line(name),
})

const refused = new AppError('insufficient_balance', 'Payment of $1.05 was not made.', {
  details: [{ path: 'amount', message: 'too much' }],
  extra: { request_id: 'req_1' },
})

const commands: Command[] = [
  list as Command,
  stream as Command,
  failing('broke', refused) as Command,
  failing('pending', new CliError('pending', 'It still runs.', { next: ['souk watch'] })) as Command,
  failing('bug', new Error('undefined is not a function')) as Command,
]
const entries: Entry[] = commands.map((command) => ({
  name: command.name,
  summary: command.summary,
  heading: 'Things',
  load: async () => ({ command }),
}))
const groups: Group[] = [{ name: 'fruits', heading: 'Things', summary: 'fruits of the garden' }]

const run = (line: string, options = {}) => runLine({ entries, groups }, line.split(' ').filter(Boolean), options)

describe('words', () => {
  it.each([
    ['fruits list', { limit: 2, tag: [], ripe: true }, false],
    ['fruits list --limit 1 --no-ripe -t a -t b', { limit: 1, tag: ['a', 'b'], ripe: false }, false],
    [
      'fruits list --since 1h30m --sort price',
      { limit: 2, tag: [], ripe: true, since: 5_400_000, sort: 'price' },
      false,
    ],
    ['fruits list --wait', { limit: 2, tag: [], ripe: true }, true],
    ['fruits list --wait=5s', { limit: 2, tag: [], ripe: true }, 5_000],
    ['fruits list --no-input --input x', { limit: 2, tag: [], ripe: true, input: 'x' }, false],
  ])('%s', async (line, options, wait) => {
    const { code, out } = await run(`${line} --json`)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ options, wait })
  })

  it('takes positionals in order, the list what is left', async () => {
    const { out } = await run('--json fruits list red a b')
    expect(JSON.parse(out).args).toEqual({ kind: 'red', more: ['a', 'b'] })
  })

  it('does not let an optional value eat the next positional', async () => {
    const { out } = await run('fruits list --wait red --json')
    expect(JSON.parse(out)).toMatchObject({ args: { kind: 'red' }, wait: true })
  })

  it.each([
    ['fruits lst', 'did you mean list?'],
    ['fruts list', 'did you mean fruits?'],
    ['fruits list --limt 1', 'did you mean --limit?'],
    ['fruits list --jsn', 'did you mean --json?'],
    ['fruits list --limit many', '--limit must be a number; you gave "many"'],
    ['fruits list --limit 10', '--limit must be at most 9; you gave 10'],
    ['fruits list --sort prce', 'did you mean price?'],
    ['fruits list --since soon', '--since must be a duration'],
    ['fruits list --fields nam', '(did you mean name?)'],
    ['fruits list --max-price lots', '--max-price must be an amount'],
    ['fruits list --pay cash', 'Allowed choices are auto, balance, x402, none'],
    ['fruits list --instance ../x', '--instance must be'],
  ])('%s is a usage error that helps', async (line, hint) => {
    const { code, out, err } = await run(line)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(err).toContain(hint)
  })
})

describe('help', () => {
  it('of a bare group goes to stdout with exit 0', async () => {
    const { code, out, err } = await run('fruits')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('fruits of the garden')
    expect(out).toContain('list the fruits')
  })

  it.each(['fruits list --help', 'help fruits list'])('%s has flags and examples', async (line) => {
    const { code, out } = await run(line)
    expect(code).toBe(0)
    for (const part of [
      'Usage: souk fruits list',
      '--limit <n>',
      '(default: 2)',
      '--no-ripe',
      '$ souk fruits list red --limit 1',
    ]) {
      expect(out).toContain(part)
    }
  })

  it('of the program names where to start, and leads to the rest', async () => {
    const { out } = await run('--help')
    for (const part of ['START', 'EXAMPLES', 'souk help --all', 'exit-codes']) expect(out).toContain(part)
  })

  it('prints the version', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: '0.0.0-test\n', err: '' })
  })
})

describe('output', () => {
  it('is a fitted table on a terminal, with foreign control characters replaced', async () => {
    const { out } = await run('fruits list --color never', { columns: 30 })
    const lines = out.trimEnd().split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(30)
    expect(out).toContain('…')
    expect(out).toContain('Lemon\uFFFD[31m\uFFFD\uFFFD')
    expect(lines[0]).toContain('PRICE')
  })

  it('is whole tab-separated rows in a pipe', async () => {
    const { out } = await run('fruits list')
    expect(out.split('\n')[0]).toBe('f1\tApple of the old garden behind the house\t12\tyes')
    expect((await run('fruits list --header')).out.split('\n')[0]).toBe('id\tname\tprice\tsweet')
  })

  it('keeps money as decimal text and control characters as escapes in JSON', async () => {
    const { out } = await run('fruits list --ndjson')
    const [, lemon = ''] = out.trimEnd().split('\n')
    expect(lemon).toContain('\\u001b[31m\\u202e\\u009b')
    expect(JSON.parse(lemon)).toEqual({ ...fruits[1], price: '345' })
  })

  it('narrows to fields, dotted ones too, inside the envelope', async () => {
    const { out } = await run('fruits list --fields id,taste.sweet')
    expect(JSON.parse(out)).toMatchObject({
      total: 2,
      fruits: [
        { id: 'f1', taste: { sweet: true } },
        { id: 'f2', taste: { sweet: false } },
      ],
    })
  })

  it('prints what is followed item by item', async () => {
    expect((await run('watch')).out.split('\n')).toHaveLength(3)
    expect(
      (await run('watch --json')).out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual(['f1', 'f2'])
  })

  it.each([
    [{}, false],
    [{ NO_COLOR: '1' }, false],
    [{ CLICOLOR_FORCE: '1' }, true],
    [{ NO_COLOR: '1', CLICOLOR_FORCE: '1' }, false],
  ])('colors a pipe under %j: %s', async (env, colored) => {
    const { err } = await run('pending', { env })
    expect(err.includes('\u001B[')).toBe(colored)
  })

  it('colors a terminal unless told otherwise', async () => {
    expect((await run('pending', { columns: 80 })).err).toContain('\u001B[31m')
    expect((await run('pending --color never', { columns: 80 })).err).not.toContain('\u001B[')
    expect((await run('pending', { columns: 80, env: { TERM: 'dumb' } })).err).not.toContain('\u001B[')
  })
})

describe('failures', () => {
  it('say sign, sentence, facts, the way out and the request', async () => {
    const { code, out, err } = await run('broke')
    expect([code, out]).toEqual([5, ''])
    expect(err).toMatchInlineSnapshot(`
      "✗ Payment of $1.05 was not made.  (exit 5)
        amount: too much
        → souk wallet show
        request req_1
      "
    `)
  })

  it('are one object on stderr under --json', async () => {
    const { code, out, err } = await run('broke --json')
    expect([code, out]).toEqual([5, ''])
    expect(JSON.parse(err)).toEqual({
      error: {
        code: 'insufficient_balance',
        message: 'Payment of $1.05 was not made.',
        exit: 5,
        status: 402,
        request_id: 'req_1',
        hint: 'souk wallet show',
        facts: ['amount: too much'],
        retry_after: null,
        details: [{ path: 'amount', message: 'too much' }],
      },
    })
  })

  it.each([
    ['pending', 8],
    ['bug', 1],
    ['nothing', 2],
  ])('%s exits %i', async (line, code) => {
    expect((await run(line)).code).toBe(code)
  })

  it('show a stack only under --debug', async () => {
    expect((await run('bug')).err).not.toContain('at ')
    expect((await run('bug --debug')).err).toContain('frame.test.ts')
  })
})
