import { expect, test } from 'vitest'
import { StoreMisuse } from '../errors.ts'
import { parsePgAddress, shownAddress } from './address.ts'

test('an address names hosts, user, database and schema', () => {
  expect(parsePgAddress('postgres://ann:p%40ss:word@one:6000,two/shop?schema=market&sslmode=verify-full')).toEqual({
    hosts: [
      { host: 'one', port: 6000 },
      { host: 'two', port: 5432 },
    ],
    user: 'ann',
    password: 'p@ss:word',
    database: 'shop',
    schema: 'market',
    sslmode: 'verify-full',
  })
})

test.each([
  ['postgres://ann:secret@one/shop', 'postgres://ann@one:5432/shop'],
  ['postgresql://ann:secret@one:1,two:2/shop?schema=x', 'postgres://ann@one:1,two:2/shop?schema=x'],
  ['postgres://ann:secret@/shop?host=/run/pg', 'postgres://ann@/shop?host=/run/pg'],
  ['postgres://ann:secret@[::1]:7/shop', 'postgres://ann@::1:7/shop'],
])('%s is shown without its password', (address, shown) => {
  expect(shownAddress(parsePgAddress(address))).toBe(shown)
})

test.each([
  'postgres:/ann:secret@one',
  'postgres://ann:secret@one/shop?sslmode=maybe',
  'postgres://ann:secret@one/shop?sheme=x',
  'postgres://ann:secret@one/shop?schema=Up',
  'postgres://ann:secret@one:port/shop',
])('%s is refused without its password', (address) => {
  expect(() => parsePgAddress(address)).toThrow(StoreMisuse)
  expect(() => parsePgAddress(address)).not.toThrow('secret')
})
