import { randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { readText, writePrivate } from '../client/files.ts'
import { isLoopback } from '../core/loopback.ts'
import { DAY_MS } from '../core/time.ts'

/** Validity of a certificate: the longest that devices accept for manually installed ones. */
const VALID_MS = 825 * DAY_MS
/** The next start replaces a certificate that is valid for less time than this. */
const RENEW_MS = 30 * DAY_MS
/** Validity begins this long before the certificate is made, since clocks of other machines may be behind. */
const BEFORE_MS = DAY_MS
const KEY_FILE = 'tls-key.pem'
const CERTIFICATE_FILE = 'tls-cert.pem'
const SERIAL_BYTES = 16
const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])
const KEY_KIND = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

export type OwnCertificate = {
  readonly cert: string
  readonly key: string
  /** From `src/client/pin.ts`. */
  readonly fingerprint: string
  /** Network name or address of this machine. */
  readonly name: string
  /** All names and addresses that a `Host` header may contain. */
  readonly names: readonly string[]
}

type For = { readonly dataDir: string; readonly host: string; readonly now: number }

/** The instance's certificate. It is created if it is missing, and replaced before it expires. */
export async function ownCertificate({ dataDir, host, now }: For): Promise<OwnCertificate> {
  const names = namesOfMachine()
  const kept = keptIn(dataDir, now)
  const { cert, key } = kept ?? (await make(names, now))
  if (!kept) {
    writePrivate(join(dataDir, KEY_FILE), key)
    writePrivate(join(dataDir, CERTIFICATE_FILE), cert)
  }
  const [lan = 'localhost'] = [...names.addresses.filter((one) => !isLoopback(one)), ...names.hosts]
  const name = EVERY_ADDRESS.has(host) ? lan : host
  return {
    cert,
    key,
    fingerprint: new X509Certificate(cert).fingerprint256,
    name,
    names: [...names.hosts, ...names.addresses.map((one) => (one.includes(':') ? `[${one}]` : one))],
  }
}

function keptIn(dataDir: string, now: number): { cert: string; key: string } | undefined {
  const [cert, key] = [readText(join(dataDir, CERTIFICATE_FILE)), readText(join(dataDir, KEY_FILE))]
  if (cert === undefined || key === undefined) return undefined
  return Date.parse(new X509Certificate(cert).validTo) - now > RENEW_MS ? { cert, key } : undefined
}

type Names = { readonly hosts: readonly string[]; readonly addresses: readonly string[] }

/** Names and addresses of this machine, including loopback addresses, but no link-local IPv6 addresses. */
function namesOfMachine(): Names {
  const own = hostname().toLowerCase()
  const inNetworks = Object.values(networkInterfaces()).flatMap((found) => found ?? [])
  const addresses = inNetworks.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
  const sorted = addresses.toSorted((one, other) => one.family.localeCompare(other.family))
  return {
    hosts: [...new Set([own, 'localhost'])],
    addresses: [...new Set([...sorted.map(({ address }) => address), '127.0.0.1', '::1'])],
  }
}

async function make({ hosts, addresses }: Names, now: number): Promise<{ cert: string; key: string }> {
  await import('reflect-metadata') // what builds certificates is put together by it
  const x509 = await import('@peculiar/x509')
  const { subtle } = webcrypto
  const keys = await subtle.generateKey(KEY_KIND, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: randomBytes(SERIAL_BYTES).toString('hex'),
      name: [{ CN: [hosts[0] ?? 'souk'] }, { O: ['souk'] }],
      notBefore: new Date(now - BEFORE_MS),
      notAfter: new Date(now + VALID_MS),
      signingAlgorithm: KEY_KIND,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([
          ...hosts.map((value) => ({ type: 'dns', value }) as const),
          ...addresses.map((value) => ({ type: 'ip', value }) as const),
        ]),
      ],
    },
    webcrypto,
  )
  const pkcs8 = Buffer.from(await subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  const body = pkcs8.replace(/(.{64})/g, '$1\n').trimEnd()
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n` }
}
