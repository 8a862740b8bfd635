import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { HEARTBEAT_MS } from '../../daemon/http/limits.ts'
import { runLine } from '../../fixtures/kit/command-line.testkit.ts'
import type { FoundDaemon } from '../client/discover.ts'
import { addRemote, removeRemote } from '../client/remotes.ts'
import { placesOf } from '../client/settings.ts'
import { createLink, problemOf, STREAM_TIMEOUT_MS } from './cockpit-link.ts'
import { type Command, defineCommand } from './command.ts'
import * as z from './params.ts'
import { noDaemon } from './target.ts'

it('an event stream with nothing to tell outlasts two heartbeats that come late', () => {
  expect(STREAM_TIMEOUT_MS).toBeGreaterThan(2 * HEARTBEAT_MS)
})

it('a daemon that starts is not one that is gone', () => {
  const registration = { pid: 7, step: 'history', detail: 'day 31 of 98', since: '', data_dir: '/data', version: '1' }
  const [starting, stale] = (['starting', 'stale'] as const).map((state) => {
    // What is said of either needs no more of a registration.
    const found = { state, registration } as unknown as FoundDaemon
    return problemOf(noDaemon(found, placesOf({ HOME: '/nowhere' }), 0))
  })
  expect([starting?.kind, stale?.kind]).toEqual(['starting', 'gone'])
  expect(starting?.facts.join()).toContain('day 31 of 98')
})

/** An instance that counts what it is asked, and answers nothing useful. */
async function countingServer() {
  let count = 0
  const server = createServer((_, answer) => {
    count += 1
    answer.end('{}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, count: () => count }
}

it('what a screen asks at once goes to one instance, and what it asks later to where that is by then', async () => {
  const [first, second] = [await countingServer(), await countingServer()]
  const home = await mkdtemp(join(tmpdir(), 'souk-link-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const command = defineCommand({
    name: 'probe',
    summary: 'ask twice',
    args: z.object({}),
    options: z.object({}),
    examples: ['souk probe', 'souk probe --json'],
    async run(context) {
      const link = createLink({ ...context, globals: { ...context.globals, remote: 'shop' } })
      for (const { url } of [first, second]) {
        addRemote(context.places, { name: 'shop', url, network: 'sandbox' })
        await Promise.all([link.call('getHealth', {}), link.call('listPlans', {}), link.call('getTerms', {})])
        removeRemote(context.places, 'shop')
      }
    },
    view: () => undefined,
  })
  const entry = { name: 'probe', summary: '', heading: '', load: async () => ({ command: command as Command }) }
  const ran = await runLine({ entries: [entry], groups: [] }, ['probe'], { env: { HOME: home } })
  expect(ran).toMatchObject({ code: 0, err: '' })
  expect([first.count(), second.count()]).toEqual([3, 3])
})
