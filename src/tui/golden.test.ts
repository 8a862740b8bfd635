import { it } from 'vitest'
import { exampleAnswer } from '../../fixtures/kit/example-answers.ts'
import { expectGolden } from '../../fixtures/kit/golden.ts'
import { type ScreenId, screenIds } from '../nouns/screens.ts'
import { fakeLink, openOn } from './cockpit.testkit.tsx'
import { market } from './fixtures.testkit.ts'

/*
 * What each screen shows of the examples of the contract at two sizes, word by word. A change is seen here, and judged:
 * `SOUK_GOLDEN=write npx vitest run src/tui/golden.test.ts` writes the file anew.
 */

const SIZES = [
  [80, 24],
  [160, 50],
] as const
/** Keys that lead to each of the views of a screen, one after the other. */
const VIEWS: Readonly<Partial<Record<ScreenId, number>>> = { services: 5, money: 5, logs: 7, compliance: 2 }
/** What opens the chosen row. */
const OPENING: Readonly<Partial<Record<ScreenId, string>>> = {
  jobs: '\r',
  services: '\r',
  threads: '\r',
  people: 'e',
  requests: 'e',
}
/** What the examples say too little of: that is as the other tests of the cockpit have it. */
const RICHER = /\/(health|attention|river|series|crons|clock|logs|payees|platform\/status)$/

function examplesLink() {
  const own = market().answers
  const rich = Object.fromEntries(Object.entries(own).filter(([request]) => RICHER.test(request)))
  return fakeLink(new Proxy(rich, { get: (of, request) => Reflect.get(of, request) ?? exampleAnswer(String(request)) }))
}

type Look = { readonly screen: ScreenId; readonly columns: number; readonly rows: number }

/** A screen with each of its views, and with the chosen row in place of the list. */
async function lookAt({ screen, columns, rows }: Look): Promise<string[]> {
  const open = await openOn({ link: examplesLink(), screen, columns, rows })
  const told: string[] = []
  const look = async (keys: string, what: string) => {
    await open.type(keys)
    await open.advance(1_000)
    told.push(`==== ${screen} at ${columns}x${rows}${what}`, ...open.rows().map((row) => row.trimEnd()))
  }
  await look('', '')
  for (let view = 1; view < (VIEWS[screen] ?? 1); view += 1) await look('v', `, view ${view + 1}`)
  const key = OPENING[screen]
  if (key !== undefined) await look(key, ', opened')
  open.close()
  return told
}

it('screens of the cockpit show what they showed', async () => {
  const told: string[] = []
  for (const [columns, rows] of SIZES)
    for (const screen of screenIds) told.push(...(await lookAt({ screen, columns, rows })))
  expectGolden('screens.txt', `${told.join('\n')}\n`)
})
