import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { damaged, LISTED, listOf, sample, successor, WALLETS } from '../../../fixtures/sdn/samples.ts'
import { sdnFault } from '../../features/sanctions/ofac-sdn-refresh.ts'
import { readSdn, SdnUnreadable } from './list.ts'

const never = new AbortController().signal

async function* pieces(text: string | Buffer, bytes = 100_000): AsyncGenerator<Uint8Array> {
  const whole = Buffer.from(text)
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes)
}
const read = (text: string | Buffer, bytes?: number) => readSdn(pieces(text, bytes), never)

describe('a whole list', () => {
  test.each([
    ['the sample', sample, WALLETS],
    ['its successor', successor, WALLETS.filter((wallet) => !wallet.endsWith('03'))],
    ['with CRLF', sample.replaceAll('\n', '\r\n'), WALLETS],
    ['with a byte order mark', `\ufeff${sample}`, WALLETS],
    [
      'with a prefix on each name',
      sample.replaceAll(/<(\/?)([A-Za-z])/g, '<$1ofac:$2').replace('xmlns=', 'xmlns:ofac='),
      WALLETS,
    ],
  ])('%s is read: addresses by their shape, whatever their ticker', async (_, text, wallets) => {
    const list = await read(text)
    expect([...list.wallets].toSorted()).toEqual(wallets.toSorted())
    expect([list.entries, list.recordCount]).toEqual([9, 9])
    expect(list.publishDate).toBe(text === successor ? '2026-02-01' : '2026-01-15')
  })

  test('wherever it is cut into pieces it is the same list, and what a regular expression finds', async () => {
    const found = new Set(
      [
        ...sample.matchAll(
          /Digital Currency Address - \w+<\/idType>\s*<idNumber>(?:<!\[CDATA\[)?\s*(0x[0-9a-fA-F]{40})\b/g,
        ),
      ].map(([, wallet]) => wallet?.toLowerCase()),
    )
    const cut = fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (bytes) => {
      expect((await read(sample, bytes)).wallets).toEqual(found)
    })
    await fc.assert(cut, { numRuns: 20 })
    expect(found.has(LISTED)).toBe(true)
  })
})

/** Why a file is refused where `sample` is held. */
async function refusal(text: string | Buffer): Promise<string | undefined> {
  const held = { publishDate: '2026-01-15', addresses: WALLETS.length }
  try {
    const list = await read(text)
    return sdnFault({ ...list, addresses: list.wallets.size }, held)
  } catch (error) {
    expect(error).toBeInstanceOf(SdnUnreadable)
    return (error as Error).message
  }
}

test.each(damaged)('%s is refused, and says why', async (_, text, why) => {
  expect(await refusal(text)).toContain(why)
})

test('wherever a list is cut off it is refused', async () => {
  const cut = fc.asyncProperty(fc.integer({ min: 0, max: sample.trimEnd().length - 1 }), async (length) => {
    expect(await refusal(sample.slice(0, length))).toBeDefined()
  })
  await fc.assert(cut, { numRuns: 60 })
})

describe('the gates', () => {
  const facts = { publishDate: '2026-01-02', recordCount: 9, entries: 9, addresses: 5 }
  test.each([
    ['the first list of a source needs no neighbour', { ...facts, addresses: 1 }, undefined, {}, undefined],
    ['the same date again is fine', facts, { publishDate: '2026-01-02', addresses: 5 }, {}, undefined],
    ['half is enough', facts, { publishDate: '2026-01-01', addresses: 10 }, {}, undefined],
    ['less than half is not', facts, { publishDate: '2026-01-01', addresses: 11 }, {}, 'less than half'],
    [
      'unless the operator says so',
      facts,
      { publishDate: '2026-01-01', addresses: 11 },
      { acceptShrink: true },
      undefined,
    ],
  ])('%s', (...row) => {
    const [, list, held, options, why] = row
    const fault = sdnFault(list, held, options)
    if (why === undefined) expect(fault).toBeUndefined()
    else expect(fault).toContain(why)
  })
})

test('a stop ends the reading with its reason', async () => {
  const stop = new AbortController()
  stop.abort(new Error('stopping'))
  await expect(readSdn(pieces(listOf(10)), stop.signal)).rejects.toThrow('stopping')
})
