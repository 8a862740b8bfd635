import { expect, test } from 'vitest'
import { subscriberOf } from './connections.ts'

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::a:b:c:d', '2001:db8:0:0'],
  ['2001:DB8::e:f:1:2', '2001:db8:0:0'],
  ['2001:db8:0:0::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['unknown', 'unknown'],
])('%s is of the subscriber %s, however it is written', (address, subscriber) => {
  expect(subscriberOf(address)).toBe(subscriber)
})
