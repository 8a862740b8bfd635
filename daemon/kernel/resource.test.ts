import { expect, test } from 'vitest'
import type { Log } from '../ports/log.ts'
import { closeResources, defineResource, type Resources } from './context.ts'

test('a resource that fails to close is logged, and keeps none of the others open', async () => {
  const closed: string[] = []
  const logged: unknown[] = []
  const resources: Resources = { closing: [] }
  const log = { error: (fields: object) => logged.push(fields) } as unknown as Log // the only method that is called
  for (const name of ['first', 'broken', 'last']) {
    defineResource<true>(name).open({ resources }, true, () => {
      if (name === 'broken') throw new Error('the disk is full')
      closed.push(name)
    })
  }
  await closeResources({ resources, log })
  expect(closed).toEqual(['last', 'first'])
  expect(logged).toEqual([{ source: 'broken', err: 'Error: the disk is full' }])
})
