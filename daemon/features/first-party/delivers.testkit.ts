import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { checkDeliverable } from '../../../src/schema/schema.ts'
import type { FirstPartyService, JsonInput, ServiceMeans } from './service/service.ts'

/** Asserts that a result is what the listing of a function promises. */
export function deliversItsSchema(slug: string, result: unknown): void {
  const { deliverable_schema } = JSON.parse(readFileSync(`fixtures/listings/${slug}.json`, 'utf8'))
  expect(checkDeliverable(deliverable_schema, result)).toMatchObject({ ok: true })
}

type Ran = { readonly service: FirstPartyService; readonly input: JsonInput; readonly means?: ServiceMeans }

/** Checks and runs a service as a purchase does, and looks whether its result is what the listing promises. */
// biome-ignore lint/suspicious/noExplicitAny: results of many shapes, each read by the test that asked
export async function delivered({ service, input, means = {} }: Ran): Promise<any> {
  service.check(input, means)
  const result = await service.run(input, new AbortController().signal, means)
  deliversItsSchema(service.slug, result)
  return result
}
