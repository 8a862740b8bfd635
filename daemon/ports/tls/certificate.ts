import { createHash, X509Certificate } from 'node:crypto'

export type CertificateFacts = ReturnType<typeof factsOf>

const MAX_NAMES = 200
/** Longest name of a host. */
const MAX_NAME_CHARS = 253
/** Limit of subject, issuer and serial number; real ones are far shorter. */
const MAX_FIELD_CHARS = 1_000
const MAX_IDENTIFIER_BYTES = 64

/** Extension ids in DER. */
const SCT_LIST = Buffer.from('060a2b06010401d679020402', 'hex')
const OCSP = Buffer.from('06082b06010505073001', 'hex')
const TLS_FEATURE = Buffer.from('06082b06010505070118', 'hex')

const algorithms: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.4': 'RSA-MD5',
  '1.2.840.113549.1.1.5': 'RSA-SHA1',
  '1.2.840.113549.1.1.10': 'RSASSA-PSS',
  '1.2.840.113549.1.1.11': 'RSA-SHA256',
  '1.2.840.113549.1.1.12': 'RSA-SHA384',
  '1.2.840.113549.1.1.13': 'RSA-SHA512',
  '1.2.840.10045.4.1': 'ecdsa-with-SHA1',
  '1.2.840.10045.4.3.2': 'ecdsa-with-SHA256',
  '1.2.840.10045.4.3.3': 'ecdsa-with-SHA384',
  '1.2.840.10045.4.3.4': 'ecdsa-with-SHA512',
  '1.3.101.112': 'Ed25519',
}

export function factsOf(raw: Buffer) {
  const certificate = new X509Certificate(raw)
  return {
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    serial: certificate.serialNumber.slice(0, MAX_FIELD_CHARS),
    valid_from: new Date(certificate.validFrom).toISOString(),
    valid_to: new Date(certificate.validTo).toISOString(),
    /** DNS names and addresses. */
    names: namesOf(certificate.subjectAltName),
    key: keyOf(certificate),
    /** OpenSSL's name, such as `ecdsa-with-SHA256`; else the identifier. */
    signature_algorithm: signatureOf(raw),
    fingerprint_sha256: certificate.fingerprint256,
    pem_sha256: createHash('sha256').update(certificate.toString()).digest('hex'),
    is_ca: certificate.ca,
    /** The certificate requires a stapled OCSP response (RFC 7633). */
    must_staple: raw.includes(TLS_FEATURE),
    /** Has certificate transparency proofs (RFC 6962). */
    has_sct: raw.includes(SCT_LIST),
    /** The certificate names an OCSP server. Without one, the host cannot staple an OCSP response. */
    has_ocsp: raw.includes(OCSP),
  }
}

function oneLine(name: string | undefined): string {
  return (name ?? '').split('\n').filter(Boolean).join(', ').slice(0, MAX_FIELD_CHARS)
}

function namesOf(alternatives: string | undefined): string[] {
  const parts = (alternatives ?? '').split(', ')
  const names = parts.flatMap((part) => /^(?:DNS|IP Address):(.+)$/.exec(part)?.[1] ?? [])
  return names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_CHARS))
}

function keyOf(certificate: X509Certificate): { type: string; bits?: number; curve?: string } {
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: details } = certificate.publicKey
  return {
    type,
    ...(details?.modulusLength === undefined ? {} : { bits: details.modulusLength }),
    ...(details?.namedCurve === undefined ? {} : { curve: details.namedCurve }),
  }
}

const SEQUENCE = 0x30
const IDENTIFIER = 0x06

/** The signature algorithm: second member of the outer sequence (RFC 5280 section 4.1). */
function signatureOf(raw: Buffer): string {
  const outer = elementAt(raw, 0)
  const signed = elementAt(raw, outer.start)
  const algorithm = elementAt(raw, signed.end)
  const identifier = elementAt(raw, algorithm.start)
  if (outer.tag !== SEQUENCE || identifier.tag !== IDENTIFIER) return 'unknown'
  const dotted = dottedOf(raw.subarray(identifier.start, identifier.end).subarray(0, MAX_IDENTIFIER_BYTES))
  return algorithms[dotted] ?? dotted
}

const LONG_FORM = 0x80
const BYTE = 256

function elementAt(raw: Buffer, at: number): { tag: number; start: number; end: number } {
  const tag = raw[at] ?? 0
  const first = raw[at + 1] ?? 0
  if (first < LONG_FORM) return { tag, start: at + 2, end: at + 2 + first }
  const lengthBytes = raw.subarray(at + 2, at + 2 + (first - LONG_FORM))
  const length = lengthBytes.reduce((sum, byte) => sum * BYTE + byte, 0)
  const start = at + 2 + lengthBytes.length
  return { tag, start, end: start + length }
}

/** The first byte holds two arcs; the others are base 128 (X.690 section 8.19). */
const ARCS_IN_FIRST = 40
const GROUP = 128

function dottedOf(bytes: Buffer): string {
  const [first = 0, ...rest] = bytes
  const arcs = [Math.min(2, Math.floor(first / ARCS_IN_FIRST)), 0]
  arcs[1] = first - (arcs[0] ?? 0) * ARCS_IN_FIRST
  let arc = 0
  for (const byte of rest) {
    arc = arc * GROUP + (byte % GROUP)
    if (byte >= GROUP) continue
    arcs.push(arc)
    arc = 0
  }
  return arcs.join('.')
}
