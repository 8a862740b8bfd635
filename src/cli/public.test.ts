import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openUser, type User } from '../../fixtures/kit/user.ts'

// @slow a public instance is set up and asked

/* The real daemon in a process of its own, asked as a proxy would ask it. */

let user: User

beforeEach(async () => {
  user = await openUser()
})
afterEach(() => user.close())

const run = (...words: string[]) => user.souk(...words, '--json')

const souk = (...words: string[]) => user.json(...words)
const up = (...words: string[]) => souk('up', '--port', '0', '--crons', 'off', ...words)

/** Status and `resource` of the 402 that somebody gets who names this host. */
function asked(url: string, host: string): Promise<[number | undefined, string | undefined]> {
  return new Promise((done, fail) => {
    const sent = request(`${url}/v1/discover`, { method: 'POST', headers: { host }, agent: false }, (answer) => {
      let text = ''
      answer.on('data', (chunk) => {
        text += chunk
      })
      answer.on('end', () => done([answer.statusCode, JSON.parse(text).accepts?.[0].resource]))
    })
    sent.on('error', fail)
    sent.end()
  })
}

test('a public address is in every link, its names are answered, and the command line still finds the daemon', async () => {
  const { url, public_url } = await up('--public-url', 'https://souk.example/', '--allow-host', 'b.example')
  expect([new URL(url).hostname, public_url]).toEqual(['127.0.0.1', 'https://souk.example'])
  const resource = 'https://souk.example/v1/discover'
  expect(await asked(url, 'souk.example')).toEqual([402, resource])
  expect(await asked(url, 'b.example:8443')).toEqual([402, resource])
  expect(await asked(url, new URL(url).host)).toEqual([402, resource])
  expect(await asked(url, 'evil.example')).toEqual([421, undefined])
  expect(await souk('status')).toMatchObject({ state: 'running', url })
  await souk('admin', 'platform', 'status')

  const again = await souk('restart')
  expect(await asked(again.url, 'souk.example')).toEqual([402, resource])
})

test('what is kept holds for every start, and a flag wins over it', async () => {
  await souk('config', 'set', 'public-url', 'https://kept.example')
  await souk('config', 'set', 'allow-host', 'b.example,c.example')
  const kept = await up()
  expect(await asked(kept.url, 'c.example')).toEqual([402, 'https://kept.example/v1/discover'])
  await souk('config', 'set', 'public-url', 'https://other.example')
  const again = await souk('restart')
  expect(await asked(again.url, 'b.example')).toEqual([402, 'https://other.example/v1/discover'])
  const typed = await souk('restart', '--public-url', 'https://typed.example')
  expect(await asked(typed.url, 'typed.example')).toEqual([402, 'https://typed.example/v1/discover'])
})

test('what is no longer kept is forgotten by the next restart, what a flag said is not', async () => {
  await souk('config', 'set', 'public-url', 'https://kept.example')
  await souk('config', 'set', 'allow-host', 'b.example')
  const kept = await up('--trust-proxy', '10.0.0.1')
  expect(await asked(kept.url, 'b.example')).toEqual([402, 'https://kept.example/v1/discover'])
  await souk('config', 'unset', 'public-url')
  await souk('config', 'unset', 'allow-host')
  const again = await souk('restart', '--allow-host', 'c.example')
  expect(await asked(again.url, 'c.example')).toEqual([402, `${again.url}/v1/discover`])
  for (const gone of ['kept.example', 'b.example']) expect(await asked(again.url, gone)).toEqual([421, undefined])
  const last = await souk('restart')
  expect(await asked(last.url, 'c.example')).toEqual([402, `${last.url}/v1/discover`])
})

describe('what is refused before anything starts', () => {
  test.each([
    ['an address with a path', 'https://souk.example/market'],
    ['one with credentials', 'https://me:secret@souk.example'],
    ['one with a query', 'https://souk.example/?a=1'],
    ['another scheme', 'ftp://souk.example'],
    ['a name alone', 'souk.example'],
  ])('%s', async (_, address) => {
    for (const words of [
      ['up', '--public-url', address],
      ['config', 'set', 'public-url', address],
    ]) {
      const { code, err } = await run(...words)
      expect([code, err]).toEqual([2, expect.stringMatching(/public-url.*must be like https:\/\/souk\.example\.org/)])
    }
  })

  test.each([
    ['a host name with a path', ['--allow-host', 'b.example/x']],
    ['an empty one', ['--allow-host', '']],
    ['a proxy by name', ['--trust-proxy', 'proxy.example']],
    ['a block that is none', ['--trust-proxy', '10.0.0.0/33']],
  ])('%s', async (_, words) => {
    expect((await run('up', ...words)).code).toBe(2)
  })
})
