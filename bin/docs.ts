import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { answerExamples } from '../fixtures/examples/answers.ts'
import { endpointTable } from '../src/api/table.ts'
import { statesPage } from './states.ts'

/** Writes what is generated of the documentation; a test fails when it is stale. */
const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const readme = pathOf('README.md')
const [start, end] = ['<!-- endpoints:start -->', '<!-- endpoints:end -->']
const text = readFileSync(readme, 'utf8')
const head = text.slice(0, text.indexOf(start) + start.length)
writeFileSync(readme, `${head}\n${endpointTable()}\n${text.slice(text.indexOf(end))}`)

mkdirSync(pathOf('docs'), { recursive: true })
writeFileSync(pathOf('docs/states.md'), await statesPage())

writeFileSync(pathOf('src/api/answer-examples.json'), `${JSON.stringify(await answerExamples(), null, 2)}\n`)
