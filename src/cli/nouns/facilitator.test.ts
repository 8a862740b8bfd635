import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serversOf } from '../../../commands/facilitator.ts'

/* The printed servers are run by people: what an instance says of itself must stay data in them. */

const said = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(`'`, `\\'`, `'}); evil(); ({a:'`, '\n', '\\', '\u2028', '`', '\u202e'),
)
const ASSET = /^const asset = (\{.*\})$/m
const FACILITATOR = /^const facilitator = (\{ url: .*\})$/m

describe('a server that is printed', () => {
  it('holds what the instance says as the same words, whatever they are, and nothing else of it', () => {
    fc.assert(
      fc.property(said, said, said, (url, name, version) => {
        const asset = { address: name, name, version, decimals: 6 }
        const code = serversOf({ url, keyless: true, network: 'base', caip2: version, asset })['x402-express']
        const read = (pattern: RegExp) => runInNewContext(`(${pattern.exec(code)?.[1]})`)
        expect(read(ASSET)).toMatchObject({ address: name, decimals: 6, eip712: { name, version } })
        expect(read(FACILITATOR).url).toBe(url)
        expect(code).toMatch(/^[\x20-\x7e\n]*$/)
      }),
    )
  })
})
