import { X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { openAuthority } from './authority.testkit.ts'
import { factsOf } from './certificate.ts'

const authority = openAuthority()
afterAll(() => authority.close())
const extensions = 'tlsfeature=status_request\n1.3.6.1.4.1.11129.2.4.2=DER:04020000'
const { cert } = authority.leaf({ name: 'site.test', extensions })
const whole = new X509Certificate(cert).raw

it('tells what a certificate says of itself, as another reader of it does', () => {
  const certificate = new X509Certificate(whole)
  expect(factsOf(whole)).toMatchObject({
    names: ['site.test'],
    serial: certificate.serialNumber,
    fingerprint_sha256: certificate.fingerprint256,
    valid_to: '2049-01-01T00:00:00.000Z',
    key: { type: 'ec', curve: 'prime256v1' },
    signature_algorithm: 'ecdsa-with-SHA256',
    is_ca: false,
    must_staple: true,
    has_sct: true,
  })
})

it('of bytes that were changed tells bounded facts, or refuses them', () => {
  const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) })
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const bytes = Buffer.from(whole)
      for (const { at, byte } of changes) bytes[at] = byte
      try {
        const facts = factsOf(bytes)
        expect(JSON.stringify(facts).length).toBeLessThan(20_000)
        expect(new Date(facts.valid_to).toISOString()).toBe(facts.valid_to)
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
    }),
    { numRuns: 300 },
  )
})
