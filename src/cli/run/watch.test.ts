import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runLine } from '../../../fixtures/kit/command-line.testkit.ts'
import { AppError } from '../../core/error.ts'
import { type Command, defineCommand, type Entry, watchOptions } from '../command.ts'
import { CliError } from '../exit.ts'
import * as z from '../params.ts'

/* What is looked at again and again: painted where it changed, one line a change for programs, over at ctrl-c. */

const HEAD = 'a table of many columns'

/** A command whose answer is the next of a list, and then stays the last. */
function answering(...answers: readonly (number | Error)[]): readonly Entry[] {
  let looks = 0
  const command = defineCommand({
    name: 'look',
    summary: 'look at a number',
    args: z.object({}),
    options: z.object({ ...watchOptions, exitStatus: z.boolean().default(false) }),
    examples: ['souk look', 'souk look --watch'],
    async run() {
      const answer = answers[Math.min(looks++, answers.length - 1)] ?? 0
      if (answer instanceof Error) throw answer
      return { number: answer }
    },
    view({ number }, io) {
      io.line(HEAD)
      io.line(`number ${number}`)
      for (let row = 0; row < number; row += 1) io.line(`row ${row}`)
    },
  })
  return [{ name: 'look', summary: '', heading: 'Things', load: async () => ({ command: command as Command }) }]
}

/** Runs it until it printed something, or until it ends by itself. */
async function watched(entries: readonly Entry[], seen: RegExp, more: { words?: string[]; columns?: number } = {}) {
  const stop = new AbortController()
  let out = ''
  const onOut = (text: string) => {
    out += text
    if (seen.test(out)) stop.abort()
  }
  const words = ['look', '--watch', '--interval', '200ms', ...(more.words ?? [])]
  const columns = more.columns === undefined ? {} : { columns: more.columns }
  const ran = await runLine({ entries, groups: [] }, words, { interrupt: stop.signal, onOut, ...columns })
  await sleep(0)
  return ran
}

test('only the lines that changed are painted anew', async () => {
  const { code, out } = await watched(answering(1, 1, 2), /number 2[\s\S]*row 1/, { columns: 40 })
  expect(code).toBe(130)
  expect(out.split(HEAD)).toHaveLength(2)
  expect(out.split('row 0')).toHaveLength(2)
  expect(out).toContain('number 2')
  // Up to where the first line stands; what is the same is passed over.
  expect(out).toContain('\u001B[3A\n\rnumber 2\u001B[K\n\n\rrow 1\u001B[K\n')
})

test('lines that are gone are wiped away', async () => {
  const { out } = await watched(answering(3, 1), /number 1[\s\S]*\[J/, { columns: 40 })
  expect(out).toContain('\u001B[5A\n\rnumber 1\u001B[K\n\n\u001B[J')
})

test('lines are not wrapped meanwhile, and are again afterwards', async () => {
  const { out } = await watched(answering(1, 2), /number 2/, { columns: 40 })
  expect(out.startsWith('\u001B[?7l')).toBe(true)
  expect(out.endsWith('\u001B[?7h')).toBe(true)
})

test('programs get one line of JSON for each change, and nothing else', async () => {
  const { code, out, err } = await watched(answering(1, 1, 1, 2), /"number":2/, { words: ['--json'] })
  expect([code, err]).toEqual([130, ''])
  expect(out).toBe('{"number":1}\n{"number":2}\n')
})

test('a daemon that is away for a while is waited for, and said to be away', async () => {
  const gone = new CliError('no_daemon', 'The local daemon is not running.')
  const { code, out } = await watched(answering(1, gone, gone, 2), /number 2/, { columns: 60 })
  expect(code).toBe(130)
  expect(out).toContain('! The local daemon is not running; trying again')
})

test('what fails at the first look, or for good, is an answer', async () => {
  const gone = new CliError('no_daemon', 'The local daemon is not running.')
  expect((await watched(answering(gone), /never/)).code).toBe(10)
  const refused = new AppError('forbidden', 'Not for you.')
  expect((await watched(answering(1, refused), /never/)).code).toBe(4)
})
