import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRemoteMarket, type RemoteMarket } from '../../../fixtures/kit/remote-market.ts'

let shop: RemoteMarket
beforeAll(async () => {
  shop = await openRemoteMarket()
})
afterAll(() => shop.market.close())

describe.each(['platform', 'escrow'] as const)('the pause of the %s', (noun) => {
  test('is put on and taken off, once each', async () => {
    const admin = (...words: string[]) => shop.json(['admin', noun, ...words])
    const sure = ['--confirm', 'shop']
    expect(await admin('status')).toMatchObject({ remote: 'shop', paused: false, reason: null })
    const paused = await admin('pause', '--reason', 'being looked at', ...sure)
    expect(paused).toMatchObject({ remote: 'shop', paused: true, reason: 'being looked at', changed: true })
    expect(await admin('pause', ...sure)).toMatchObject({ paused_at: paused.paused_at, changed: false })
    const { out } = await shop.souk(['admin', noun, 'status'])
    expect(out).toContain('being looked at')
    expect(await admin('unpause', ...sure)).toMatchObject({ paused: false, changed: true })
    expect(await admin('unpause', ...sure)).toMatchObject({ changed: false })
  })

  test.each([
    [['pause'], 2, '--confirm shop'],
    [['unpause', '--yes'], 2, '--confirm shop'],
    [['pause', '--confirm', 'local'], 2, '--confirm is local'],
  ])('%s away from this machine exits %i and changes nothing', async (words, exit, said) => {
    const { code, out, err } = await shop.souk(['admin', noun, ...words])
    expect([code, out]).toEqual([exit, ''])
    expect(err).toContain(said)
    expect(await shop.json(['admin', noun, 'status'])).toMatchObject({ paused: false })
  })

  test('is only shown under --dry-run', async () => {
    const shown = await shop.json(['admin', noun, 'pause', '--dry-run', '--reason', 'why'])
    expect(shown).toMatchObject({ dry_run: true, request: { method: 'POST', body: { reason: 'why' } } })
    expect(await shop.json(['admin', noun, 'status'])).toMatchObject({ paused: false })
  })
})

test('a group below a group explains itself, and takes no word that is none of its own', async () => {
  const { code, out } = await shop.souk(['admin', 'platform'])
  expect([code, out]).toEqual([0, expect.stringContaining('unpause')])
  expect((await shop.souk(['admin', 'platform', 'stop'])).code).toBe(2)
})
