import { describe, expect, test } from 'vitest'
import { type RunOptions, runLine } from '../../../fixtures/kit/command-line.testkit.ts'
import { type Command, defineCommand } from '../command.ts'
import * as z from '../params.ts'

/* How an answer is shown: through a pager where it is longer than the screen. */

const ROWS = 10
const people = [
  { name: 'Ann', age: 30, paid: 1_500_000n },
  { name: 'Bob', age: 40, paid: 20n },
]
const command = defineCommand({
  name: 'people',
  summary: 'list people',
  args: z.object({ lines: z.string() }),
  options: z.object({}),
  examples: ['souk people 1', 'souk people 2'],
  run: async ({ args }) => ({ total: 2, people, lines: Number(args.lines), note: null }),
  view({ lines }, io) {
    for (let line = 1; line <= lines; line += 1) io.line(`line ${line}`)
  },
})
const entries = [
  { name: 'people', summary: '', heading: 'Things', load: async () => ({ command: command as Command }) },
]

/** Runs it, and says what the pager was given. */
async function run(words: readonly string[], options: RunOptions = {}) {
  const pages: [readonly string[], string | undefined][] = []
  const foreground = async (program: readonly string[], stdin?: string) => {
    pages.push([program, stdin])
    return program[0] !== 'missing'
  }
  const ran = await runLine({ entries, groups: [] }, ['people', ...words], { foreground, ...options })
  return { ...ran, pages }
}

const terminal = { columns: 80, rows: ROWS, answer: () => '' }

describe('the pager', () => {
  const env = { PAGER: 'less -S' }

  test('shows what is longer than the screen, and nothing else', async () => {
    const long = await run(['30'], { ...terminal, env })
    expect(long.pages.map(([program]) => program)).toEqual([['less', '-S']])
    expect(long.pages[0]?.[1]).toMatch(/^line 1\n[\s\S]*line 30\n$/)
    expect(long.out).toBe('')
    const short = await run(['3'], { ...terminal, env })
    expect([short.pages, short.out]).toEqual([[], 'line 1\nline 2\nline 3\n'])
  })

  test.each<[string, readonly string[], RunOptions]>([
    ['in a pipe', [], { env }],
    ['for JSON in a pipe', ['--json'], { env }],
    ['when told so', ['--no-pager'], { ...terminal, env }],
    ['when the environment says so', [], { ...terminal, env: { ...env, SOUK_NO_PAGER: '1' } }],
    ['where none is named', [], terminal],
    ['where it is cat', [], { ...terminal, env: { PAGER: 'cat' } }],
    ['where SOUK_PAGER takes it away', [], { ...terminal, env: { ...env, SOUK_PAGER: '' } }],
  ])('is not started %s', async (_, words, options) => {
    const { pages, code, out } = await run(['30', ...words], options)
    expect([pages, code]).toEqual([[], 0])
    expect(out).not.toBe('')
  })

  test('that is not there loses nothing', async () => {
    const { out, pages } = await run(['30'], { ...terminal, env: { SOUK_PAGER: 'missing', PAGER: 'less' } })
    expect(pages.map(([program]) => program)).toEqual([['missing']])
    expect(out).toContain('line 30\n')
  })
})
