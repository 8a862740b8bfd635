import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { answerExamples } from '../fixtures/examples/answers.ts'
import { generatedDocs, withPart } from './generated.ts'

/** Writes what is generated of the documentation; a test fails when it is stale. */
const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

for (const one of generatedDocs) {
  const page = one.part === undefined ? '' : readFileSync(pathOf(one.file), 'utf8')
  writeFileSync(pathOf(one.file), withPart(page, one, await one.text()))
}
writeFileSync(pathOf('src/api/answer-examples.json'), `${JSON.stringify(await answerExamples(), null, 2)}\n`)
