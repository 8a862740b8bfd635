import { afterAll, beforeAll, expect, test } from 'vitest'
import { openUserAtMarket, type User } from '../../fixtures/kit/user.ts'

let user: User
beforeAll(async () => {
  user = await openUserAtMarket()
})
afterAll(() => user.close())

const lines = (out: string) => out.trim().split('\n').filter(Boolean)

test('people who were not there come, buy and sell with money that adds up, and end by ctrl-c', async () => {
  const { souk, soukWith, json } = user
  const interrupt = new AbortController()
  let told = ''
  const onOut = (text: string) => {
    told += text
    if (lines(told).length >= 12) interrupt.abort()
  }
  const ran = await soukWith({ interrupt: interrupt.signal, onOut }, 'seed', 'traffic', '--rate', '600/min', '--ndjson')
  expect({ code: ran.code, err: ran.code === 130 ? '' : ran.err }).toEqual({ code: 130, err: '' })
  const items = lines(ran.out).map((line) => JSON.parse(line))
  expect(items.filter(({ error }) => error !== null)).toEqual([])
  expect(new Set(items.map(({ who }) => who)).size).toBeGreaterThan(1)
  const people = async () => (await json('participants', 'list', '--limit', '50')).participants.length
  const count = await people()
  expect(await json('money', 'audit')).toMatchObject({ ok: true })

  // Whoever is there already goes on with the same account, and a key that was lost is made anew.
  const again = await soukWith(
    {
      env: { HOME: user.home, PATH: process.env.PATH ?? '', TMPDIR: user.home, SOUK_CONFIG_DIR: `${user.home}/other` },
    },
    'seed',
    'traffic',
    '--rate=600',
    '--for=1s',
    '--ndjson',
  )
  expect({ code: again.code, err: again.code === 0 ? '' : again.err }).toEqual({ code: 0, err: '' })
  expect(lines(again.out).map((line) => JSON.parse(line).error)).not.toContainEqual(expect.any(String))
  expect(await people()).toBe(count)
  expect((await souk('seed', 'traffic', '--for', '1s', '--rate', '0')).err).toContain('must be like 30/min')
})
