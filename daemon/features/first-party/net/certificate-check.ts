import { AppError } from '../../../../src/core/error.ts'
import type { Json } from '../../../../src/core/json.ts'
import { defineService } from '../service/service.ts'
import { domainOf } from './domain.ts'
import { daysLeft, faultOf, shakeHands } from './handshake.ts'

/** Reports a host's certificate on port 443. An invalid certificate is a result; a missing TLS server is a failure. */
export const certificateCheck = defineService({
  slug: 'certificate_check',
  needs: ['tls'],
  isQuick: () => true,
  check: (input) => void domainOf(input),
  async read(input, ctx) {
    const { host } = domainOf(input)
    return { host, at: ctx.now(), seen: await shakeHands(ctx, host) }
  },
  make(_, { host, at, seen }): Json {
    const [leaf] = seen.chain
    if (!leaf) throw new AppError('provider_failed', 'The host presents no certificate.')
    const fault = faultOf(seen)
    return {
      domain: host,
      valid: fault === null,
      reason: fault,
      subject: leaf.subject,
      issuer: leaf.issuer,
      names: [...leaf.names],
      serial: leaf.serial,
      valid_from: leaf.valid_from,
      valid_to: leaf.valid_to,
      days_left: daysLeft(leaf, at),
      key: { ...leaf.key },
      signature_algorithm: leaf.signature_algorithm,
      fingerprint_sha256: leaf.fingerprint_sha256,
      chain_length: seen.chain.length,
      must_staple: leaf.must_staple,
      stapled: seen.ocsp_stapled,
      protocol: seen.protocol,
      not_checked: ['revocation'],
      checked_at: new Date(at).toISOString(),
    }
  },
})
