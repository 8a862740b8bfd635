import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampled } from '../../../fixtures/kit/depth.ts'
import { AppError } from '../../../src/core/error.ts'
import { parseAmount, type Usdc, usdc } from '../../../src/core/money.ts'
import { isPrice, MAX_PRICE, PRICE_STEP, parsePrice } from '../../../src/core/price.ts'
import { REFERRAL_AGENT_BPS, REFERRAL_PROVIDER_BPS, type SaleKind, share, split } from './legs.ts'

const dollars = (text: string) => parseAmount(text) as Usdc
const MAX_STEPS = Number(MAX_PRICE / PRICE_STEP)
const BLOCK = 1_000
/** Prices in steps: every one there is in ten commits, and both ends in each. */
function* prices(): Generator<number> {
  const blocks = Array.from({ length: MAX_STEPS / BLOCK }, (_, n) => n)
  for (const block of new Set([0, ...sampled(blocks, 10), blocks.length - 1]))
    for (let step = 1; step <= BLOCK; step += 1) yield block * BLOCK + step
}

describe('split', () => {
  it.each<[SaleKind, string, string, string, string]>([
    ['third_party', '0.50', '0.525', '0.50', '0.025'],
    ['third_party', '0.25', '0.263', '0.25', '0.013'],
    ['third_party', '0.75', '0.788', '0.75', '0.038'],
    ['third_party', '0.001', '0.001', '0.001', '0'],
    ['third_party', '0.010', '0.011', '0.010', '0.001'],
    ['third_party', '10000', '10500', '10000', '500'],
    ['first_party', '0.50', '0.50', '0.475', '0.025'],
    ['first_party', '0.001', '0.001', '0.00095', '0.00005'],
    ['first_party', '10000', '10000', '9500', '500'],
    ['third_party', '0', '0', '0', '0'],
  ])('%s at %s: buyer %s, provider %s, fee %s', (kind, price, ...parts) => {
    const [agent, net, fee] = parts
    expect(split(kind, dollars(price))).toEqual({ agent: dollars(agent), net: dollars(net), fee: dollars(fee) })
  })

  it.each([-1_000n, 1n, 999n, 1_001n, 500_500n])('refuses %s micro-USDC, which is no price', (micro) => {
    expect(() => split('third_party', usdc(micro))).toThrow(RangeError)
  })

  // Every price there is, against the definition in whole hundredths of a step: all below 2^31, so exact in doubles.
  it('third party: the buyer pays the multiple of $0.001 nearest to 1.05 × price, ties upwards', () => {
    let wrong = 0
    for (const steps of prices()) {
      const { agent, net, fee } = split('third_party', usdc(BigInt(steps * 1_000)))
      const buyer = Number(agent)
      const distance = buyer / 10 - steps * 105
      const nearest = distance > -50 && distance <= 50 && buyer % 1_000 === 0
      if (!nearest || Number(net) !== steps * 1_000 || Number(fee) !== buyer - steps * 1_000 || fee < 0n) wrong += 1
    }
    expect(wrong).toBe(0)
  })

  it('first party: the buyer pays the price and the provider nets 95 % of it to the last atom', () => {
    let wrong = 0
    for (const steps of prices()) {
      const { agent, net, fee } = split('first_party', usdc(BigInt(steps * 1_000)))
      if (Number(agent) !== steps * 1_000 || Number(net) !== steps * 950 || Number(fee) !== steps * 50) wrong += 1
    }
    expect(wrong).toBe(0)
  })
})

describe('share', () => {
  it('is floored and never more than its part', () => {
    const part = fc.record({ amount: fc.bigInt(0n, 10n ** 18n), bps: fc.bigInt(0n, 10_000n) })
    fc.assert(
      fc.property(part, ({ amount, bps }) => {
        const rest = amount * bps - share(usdc(amount), bps) * 10_000n
        return rest >= 0n && rest < 10_000n
      }),
    )
  })

  it('leaves the marketplace its part when both sides were referred', () => {
    const fee = split('third_party', dollars('0.25')).fee
    expect([share(fee, REFERRAL_AGENT_BPS), share(fee, REFERRAL_PROVIDER_BPS)]).toEqual([2_600n, 3_250n])
  })

  it('refuses a negative amount and more than the whole', () => {
    expect(() => share(usdc(-1n), 1n)).toThrow(RangeError)
    expect(() => share(usdc(1n), 10_001n)).toThrow(RangeError)
    expect(() => share(usdc(1n), -1n)).toThrow(RangeError)
  })
})

describe('parsePrice', () => {
  it.each<[unknown, bigint]>([
    ['0.50', 500_000n],
    ['$0.50', 500_000n],
    [0.5, 500_000n],
    [1, 1_000_000n],
    [{ fixed: '$0.525' }, 525_000n],
    [{ fixed: '0.001' }, 1_000n],
    [{ fixed: 10_000 }, 10_000_000_000n],
    ['0.500000', 500_000n],
  ])('reads %s', (input, micro) => {
    expect(parsePrice(input)).toBe(micro)
  })

  it.each<[unknown, string]>([
    ['', 'price'],
    ['free', 'price'],
    ['-1', 'price'],
    ['$-1', 'price'],
    ['$$1', 'price'],
    ['1e3', 'price'],
    ['0', 'price'],
    ['0.0005', 'price'],
    ['0.0015', 'price'],
    ['10000.001', 'price'],
    [0.1 + 0.2, 'price'],
    [Number.NaN, 'price'],
    [Number.POSITIVE_INFINITY, 'price'],
    [null, 'price'],
    [undefined, 'price'],
    [true, 'price'],
    [500_000n, 'price'],
    [['0.50'], 'price'],
    [{}, 'price'],
    [{ fixed: '0.50', hourly: '1' }, 'price'],
    [{ fixed: null }, 'price.fixed'],
    [{ fixed: { fixed: '1' } }, 'price.fixed'],
  ])('refuses %s and names %s', (input, path) => {
    const refusal = capture(() => parsePrice(input))
    expect(refusal).toMatchObject({ code: 'invalid_request', details: [{ path }] })
  })

  it('names the field it was told', () => {
    expect(capture(() => parsePrice('x', 'services.2.price')).details?.[0]?.path).toBe('services.2.price')
  })

  it('reads back every price that it accepts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_STEPS }), (steps) => {
        const asNumber = parsePrice(steps / 1_000)
        return asNumber === BigInt(steps) * PRICE_STEP && isPrice(asNumber)
      }),
    )
  })
})

function capture(act: () => unknown): AppError {
  try {
    act()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
