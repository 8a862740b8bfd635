import { AppError } from '../../../../src/core/error.ts'
import { isKeyOf } from '../../../../src/core/record.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import type { CertificateFacts } from '../../../ports/tls/certificate.ts'
import { type Handshake, TlsError } from '../../../ports/tls/handshake.ts'
import { WebError } from '../../../ports/web/error.ts'
import { type ServiceCtx, wrongField } from '../service/service.ts'

/** @throws AppError `input_invalid` for a refused host, `provider_failed` without a handshake */
export async function shakeHands({ engines, signal, who }: ServiceCtx<'tls'>, host: string): Promise<Handshake> {
  try {
    return await engines.tls.handshake(host, { signal, who })
  } catch (error) {
    if (error instanceof TlsError) throw new AppError('provider_failed', error.message, { cause: error })
    throw hostFault(error)
  }
}

/** Converts a web error about the host's addresses to an error for the buyer; returns other errors unchanged. */
export function hostFault(error: unknown): unknown {
  if (!(error instanceof WebError) || error.failure === 'aborted') return error
  if (error.isRefusal || error.failure === 'dns_failed') return wrongField('domain', error.message, error)
  return new AppError('provider_failed', error.message, { cause: error })
}

/** For each error code of OpenSSL and Node.js: the fault code that stands in results. */
export const certificateFaults = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'name_mismatch',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted_root',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted_root',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted_root',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'incomplete_chain',
  CERT_SIGNATURE_FAILURE: 'bad_signature',
  INVALID_PURPOSE: 'wrong_purpose',
  CERT_REVOKED: 'revoked',
} as const satisfies Readonly<Record<string, string>>

const MIN_RSA_BITS = 2_048
/** Curves of fewer than 256 bits, as OpenSSL names them. */
const weakCurves: ReadonlySet<string> = new Set(['prime192v1', 'secp192r1', 'secp224r1'])

/** Whether a key is too short; false for key types without a size limit. */
export function isWeakKey({ key }: Pick<CertificateFacts, 'key'>): boolean {
  if (key.type === 'rsa' || key.type === 'rsa-pss' || key.type === 'dsa') return (key.bits ?? 0) < MIN_RSA_BITS
  return weakCurves.has(key.curve ?? '')
}

/** Fault code of the certificate; null if it is valid. */
export function faultOf({ authorization_error, authorized, chain }: Handshake): string | null {
  const code = authorization_error ?? ''
  if (isKeyOf(certificateFaults, code)) return certificateFaults[code]
  if (!authorized) return code === '' ? 'untrusted' : code.toLowerCase()
  return chain[0] && isWeakKey(chain[0]) ? 'weak_key' : null
}

/**
 * Whether an intermediate certificate is missing. The handshake reports only its last fault, so this reads the chain: a
 * complete chain ends with a self-issued certificate.
 */
export function lacksIntermediate(shake: Handshake): boolean {
  const fault = faultOf(shake)
  const [leaf, next] = shake.chain
  return fault === 'incomplete_chain' || (fault !== null && !next && leaf !== undefined && leaf.issuer !== leaf.subject)
}

export function daysLeft({ valid_to }: Pick<CertificateFacts, 'valid_to'>, at: number): number {
  return Math.floor((Date.parse(valid_to) - at) / DAY_MS)
}
