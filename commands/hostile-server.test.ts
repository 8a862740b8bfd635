import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Hostile, openHostile } from '../fixtures/hostile/server.ts'
import { moneyTricks, tricks } from '../fixtures/hostile/tricks.ts'
import { openVictim, type Victim } from '../fixtures/hostile/victim.ts'
import { shellWords } from '../src/cli/command-line.testkit.ts'
import { entries } from './index.ts'

/* Every command there is against every trick that a hostile server can play. */

let hostile: Hostile
let victim: Victim
beforeAll(async () => {
  hostile = await openHostile()
  victim = await openVictim(hostile)
})
afterAll(async () => {
  await victim.close()
  await hostile.close()
})

/** They draw on a terminal, or are a daemon and not its client. */
const APART = ['tui', 'daemon serve']
const COLUMNS = 100
const PATIENCE = ['--yes', '--timeout', '5s', '--wait=20ms']
const commands = entries.filter(({ name, aliasOf }) => aliasOf === undefined && !APART.includes(name))
const examples = (await Promise.all(commands.map(({ load }) => load()))).map(
  ({ command }) => [command.name, command.examples] as const,
)

/** What is typed under a trick: the first example, each under poison; payments from the balance and by signature. */
function linesFor(trick: string, lines: readonly string[]): readonly string[] {
  if (trick.startsWith('poison')) return lines
  const [first = ''] = lines
  return moneyTricks.includes(trick) ? [first, `${first} --pay x402`] : [first]
}

describe.each(examples)('souk %s', (_, lines) => {
  test('is not harmed by a hostile server', async () => {
    const harm: string[] = []
    let asked = 0
    for (const [name, trick] of Object.entries(tricks)) {
      for (const line of linesFor(name, lines)) {
        const [, ...words] = shellWords(line)
        hostile.play(trick)
        const visit = await victim.run([...words, ...PATIENCE], { columns: COLUMNS })
        asked += hostile.received.length
        harm.push(...visit.harm.map((what) => `${name}: ${line}: ${what}`))
      }
      // It has run under all its examples by now: what never asks a server need not be harmed by one.
      if (asked === 0) break
    }
    expect(harm).toEqual([])
  })
})
