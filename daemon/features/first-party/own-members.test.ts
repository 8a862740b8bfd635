import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exampleInput } from '../../../src/schema/example.ts'
import { dependencyVulnerabilityAudit } from './data/dependency-vulnerability-audit.ts'
import { firstPartyServices } from './index.ts'
import type { JsonInput } from './service/service.ts'

/* A stranger's word is a key of what a table holds itself, and of nothing that every object has. */

const WORDS = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf']

function inputsOf(slug: string): JsonInput[] {
  const { input_schema } = JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8'))
  const example = exampleInput(input_schema) as JsonInput // of an object
  const fields: [string, { type?: string }][] = Object.entries(input_schema.properties)
  const taken = fields.filter(([, { type }]) => type === 'string' || type === 'object')
  return taken.flatMap(([name, { type }]) =>
    WORDS.map((word) => ({ ...example, [name]: type === 'string' ? word : JSON.parse(`{"${word}":"${word}"}`) })),
  )
}

test.each([...firstPartyServices.values()])('$slug takes no word for what every object has', async (service) => {
  for (const input of inputsOf(service.slug)) {
    const said = await Promise.resolve()
      .then(() => service.check(input))
      .then(() => service.run(input, new AbortController().signal))
      .catch((error: unknown) => error)
    const cause = said instanceof Error ? said.cause : undefined
    expect([input, cause instanceof TypeError ? cause.message : '']).toEqual([input, ''])
  }
})

test.each(WORDS)('%s is no ecosystem', (ecosystem) => {
  expect(() => dependencyVulnerabilityAudit.check({ ecosystem, dependencies: { pond: '1.0.0' } })).toThrow(/ecosystem/)
})
