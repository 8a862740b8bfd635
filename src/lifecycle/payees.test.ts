import { expect, test } from 'vitest'
import { Payees, payeesOf } from './launch.ts'

const [one, other] = [`0x${'aB'.repeat(20)}`, `0x${'cd'.repeat(20)}`]

test('shares are read in percent, in any case, with up to two decimals', () => {
  expect(payeesOf(Payees.parse(`operator=33.34,${one}=33.33,${other}=33.33`))).toEqual([
    { to: 'operator', bps: 3_334n },
    { to: one.toLowerCase(), bps: 3_333n },
    { to: other, bps: 3_333n },
  ])
  expect(payeesOf(Payees.parse('operator=100'))).toEqual([{ to: 'operator', bps: 10_000n }])
})

test.each([
  ['', 'must be like operator=60,0x…=40; "" is not'],
  ['operator', '"operator" is not'],
  ['operator=60', 'must sum to 100 percent, not 60'],
  ['operator=99.999', '"operator=99.999" is not'],
  [`${one}=50,${one.toLowerCase()}=50`, 'must list each payee once'],
  [`operator=100,${one}=0`, 'more than 0'],
  ['0x12=100', '"0x12=100" is not'],
])('%j is refused: %s', (text, why) => {
  expect(() => Payees.parse(text)).toThrow(why)
})
