import { describe, expect, it, test } from 'vitest'
import { loopbackSpellings, publicAddresses, specialAddresses } from './address.testkit.ts'
import { bareHost, reachOf } from './target.ts'

const loopback = ['127.0.0.1', '127.255.255.254', '::1']

describe('an address', () => {
  it.each(specialAddresses)('%s (%s) is not public', (address) => {
    expect(reachOf(address)).toBe(loopback.includes(address) ? 'loopback' : 'refused')
  })

  it.each(publicAddresses)('%s is public', (address) => {
    expect(reachOf(address)).toBe('public')
  })

  it.each(loopbackSpellings)('%s in a URL is no public address', (spelling) => {
    expect(reachOf(bareHost(new URL(`http://${spelling}/`)))).not.toBe('public')
  })

  it.each(['', 'localhost', 'example.com', '1.2.3', '256.1.1.1', 'fe80::1%eth0', '::1%lo', '[::1]', ' 1.1.1.1'])(
    '%j is no address',
    (text) => {
      expect(reachOf(text)).toBe('refused')
    },
  )
})

test('the ranges refused are at least the 41 that were examined', () => {
  expect(new Set(specialAddresses.map(([address]) => address)).size).toBeGreaterThanOrEqual(41)
})
