import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { answerExamples } from '../fixtures/examples/answers.ts'
import { clientLines } from '../src/api/endpoint/published-clients.ts'
import { pricePromises } from '../src/api/price-promises.ts'
import { endpointTable } from '../src/api/table.ts'
import { eventsPage } from './events.ts'
import { statesPage } from './states.ts'

/** Writes what is generated of the documentation; a test fails when it is stale. */
const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const readme = pathOf('README.md')
const generated = {
  endpoints: endpointTable(),
  clients: clientLines().join('\n'),
  prices: pricePromises.join('\n'),
}
const written = Object.entries(generated).reduce(
  (text, [name, part]) => between(text, [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`], part),
  readFileSync(readme, 'utf8'),
)
writeFileSync(readme, written)

mkdirSync(pathOf('docs'), { recursive: true })
writeFileSync(pathOf('docs/states.md'), await statesPage())
writeFileSync(pathOf('docs/events.md'), eventsPage())

writeFileSync(pathOf('src/api/answer-examples.json'), `${JSON.stringify(await answerExamples(), null, 2)}\n`)

function between(text: string, [start, end]: readonly [string, string], part: string): string {
  return `${text.slice(0, text.indexOf(start) + start.length)}\n${part}\n${text.slice(text.indexOf(end))}`
}
