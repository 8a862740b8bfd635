import type { SecureVersion } from 'node:tls'
import type { Json } from '../../../../src/core/json.ts'
import { keysOf } from '../../../../src/core/record.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { type Handshake, TlsError } from '../../../ports/tls/handshake.ts'
import type { WebResponse } from '../../../ports/web/exchange.ts'
import { type Finding, type Judged, judgeBy, type Rule, rule, shownFindings } from '../service/findings.ts'
import { defineService, type ServiceCtx } from '../service/service.ts'
import { domainOf } from './domain.ts'
import { daysLeft, faultOf, hostFault, isWeakKey, lacksIntermediate } from './handshake.ts'
import { hstsOf, isLongEnough, shownHeaders } from './security-headers.ts'
import { rootOf } from './tls-security-evidence.ts'

const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const satisfies readonly SecureVersion[]
type Offer = 'yes' | 'no' | 'untested'

/** Weak cipher suites that this program can offer to a server. */
const WEAK_SUITES = 'aNULL:eNULL:@SECLEVEL=0'
const FORWARD_SECRET = 'DHE'

type Seen = {
  readonly host: string
  readonly at: number
  readonly shake: Handshake | undefined
  readonly offers: Readonly<Record<(typeof versions)[number], Offer>>
  readonly weakSuites: Offer
  readonly root: WebResponse | undefined
  /** Last response of port 80, after redirects. */
  readonly plain: WebResponse | undefined
  readonly caa: boolean | undefined
}

/** Checks a host's TLS versions, cipher suites, certificate and headers, by weighted rules. */
export const tlsAudit = defineService({
  slug: 'tls_audit',
  needs: ['tls', 'dns'],
  isQuick: () => true,
  check: (input) => void domainOf(input),
  read: (input, ctx) => look(domainOf(input).host, ctx),
  make(_, seen: Seen): Json {
    const { host, at, shake } = seen
    if (!shake) return withoutTls(seen)
    const { score, findings, undecided } = judgeBy(rules, { ...seen, shake })
    const capped = isTrusted(shake) ? score : Math.min(score, UNTRUSTED_MAX)
    return {
      domain: host,
      address_family: shake.family,
      score: capped,
      ...gradesOf(findings),
      protocols: versions.filter((version) => seen.offers[version] === 'yes'),
      protocols_not_tested: versions.filter((version) => seen.offers[version] === 'untested'),
      cipher: { ...shake.cipher },
      certificate: certificateOf(seen, shake),
      chain: shake.chain.map(({ subject, issuer, valid_to, is_ca }) => ({ subject, issuer, valid_to, is_ca })),
      headers: shownHeaders(seen.root?.headers ?? {}),
      ...shownFindings(findings),
      not_checked: [
        ...undecided,
        'revocation',
        'the order of the certificate chain',
        'RC4 and 3DES suites, which this program does not support',
      ],
      checked_at: new Date(at).toISOString(),
    }
  },
})

/** Collects the facts with at most two concurrent requests, to spare the host. */
async function look(host: string, ctx: ServiceCtx<'tls' | 'dns'>): Promise<Seen> {
  const [shake, root] = await Promise.all([mainHandshake(ctx, host), rootOf(ctx, host)])
  const at = ctx.now()
  const untested = { TLSv1: 'untested', 'TLSv1.1': 'untested', 'TLSv1.2': 'untested', 'TLSv1.3': 'untested' } as const
  if (!shake)
    return { host, at, shake, offers: untested, weakSuites: 'untested', root, plain: undefined, caa: undefined }
  const offered = (version: SecureVersion, ciphers?: string) =>
    offerOf(ctx, host, { version, ...(ciphers ? { ciphers } : {}) })
  const [old, older] = await Promise.all([offered('TLSv1.1'), offered('TLSv1')])
  const [twelve, thirteen] = await Promise.all([offered('TLSv1.2'), offered('TLSv1.3')])
  const [weakSuites, plain] = await Promise.all([offered('TLSv1.2', WEAK_SUITES), rootOf(ctx, host, 'http')])
  const offers = { TLSv1: older, 'TLSv1.1': old, 'TLSv1.2': twelve, 'TLSv1.3': thirteen }
  return { host, at, shake, offers, weakSuites, root, plain, caa: await hasCaa(ctx, host) }
}

/** Undefined if nothing speaks TLS on the port. */
async function mainHandshake(
  { engines, signal, who }: ServiceCtx<'tls'>,
  host: string,
): Promise<Handshake | undefined> {
  try {
    return await engines.tls.handshake(host, { signal, who })
  } catch (error) {
    if (error instanceof TlsError && !signal.aborted) return undefined
    throw hostFault(error)
  }
}

async function offerOf(
  { engines, signal, who }: ServiceCtx<'tls'>,
  host: string,
  how: { readonly version: SecureVersion; readonly ciphers?: string },
): Promise<Offer> {
  try {
    const { protocol } = await engines.tls.handshake(host, { ...how, signal, who })
    return protocol === how.version ? 'yes' : 'no'
  } catch (error) {
    if (!(error instanceof TlsError) || signal.aborted) throw hostFault(error)
    return error.failure === 'refused' ? 'no' : 'untested'
  }
}

/** Whether the host or a domain above it has a CAA record (RFC 8659); undefined without a response. */
async function hasCaa({ engines, signal }: ServiceCtx<'dns'>, host: string): Promise<boolean | undefined> {
  const labels = host.split('.')
  try {
    for (let at = 0; at < labels.length - 1; at += 1) {
      const { records } = await engines.dns.ask({ name: labels.slice(at).join('.'), type: 'CAA' }, signal)
      if (records.some(({ type }) => type === 'CAA')) return true
    }
    return false
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}

type Shaken = Seen & { readonly shake: Handshake }
const GOOD_DAYS = 30
const MOST_DAYS = 398
const SHORTER_DAYS = 200
const SHORTER_FROM = Date.parse('2026-03-15')
const SOON_DAYS = 7

const rules: readonly Rule<Shaken>[] = [
  rule('certificate_trusted', 25, ({ shake }) => trustOf(shake)),
  rule('name_matches', 15, ({ shake, host }) =>
    shake.is_for_host
      ? ['pass', `The certificate is for ${host}.`]
      : ['fail', `The certificate is not for ${host}.`, shake.chain[0]?.names.join(', ')],
  ),
  rule('expiry', 8, ({ shake, at }) => expiryOf(shake, at)),
  rule('validity_period', 0, ({ shake }) => validityOf(shake)),
  rule('chain_complete', 6, ({ shake }) =>
    lacksIntermediate(shake)
      ? ['fail', 'An intermediate certificate is missing.']
      : ['pass', 'The certificate chain is complete.'],
  ),
  rule('key_strength', 8, ({ shake: { chain } }) => {
    const [leaf] = chain
    if (!leaf) return undefined
    const size = `${leaf.key.type} ${leaf.key.bits ?? leaf.key.curve ?? ''}`.trim()
    return isWeakKey(leaf) ? ['fail', `The key is too short: ${size}.`] : ['pass', `The key is long enough: ${size}.`]
  }),
  rule('signature', 5, ({ shake: { chain } }) => {
    // The signature of a root certificate does not matter.
    const old = chain.find((one) => one.issuer !== one.subject && /SHA1|MD5/i.test(one.signature_algorithm))
    return old
      ? ['fail', `A certificate is signed with ${old.signature_algorithm}.`, old.subject]
      : ['pass', 'The certificates are signed with a current algorithm.']
  }),
  rule('tls13', 8, ({ offers }) => wanted(offers['TLSv1.3'], 'TLS 1.3')),
  rule('tls12', 4, ({ offers }) => wanted(offers['TLSv1.2'], 'TLS 1.2')),
  rule('no_old_versions', 8, ({ offers }) => {
    const old = (['TLSv1', 'TLSv1.1'] as const).filter((version) => offers[version] === 'yes')
    if (old.length > 0) return ['fail', 'Deprecated TLS versions are accepted (RFC 8996).', old.join(', ')]
    if (offers.TLSv1 === 'untested' && offers['TLSv1.1'] === 'untested') return undefined
    return ['pass', 'No deprecated TLS version is accepted.']
  }),
  rule('no_weak_suites', 6, ({ weakSuites }) => unwanted(weakSuites, 'Cipher suites without authentication')),
  rule('forward_secrecy', 4, ({ shake: { cipher } }) =>
    cipher.forward_secrecy
      ? ['pass', 'The cipher suite has forward secrecy.', cipher.name]
      : ['fail', `The cipher suite has no forward secrecy, which needs ${FORWARD_SECRET}.`, cipher.name],
  ),
  rule('hsts', 6, ({ root }) => root && hstsFinding(root.headers['strict-transport-security'])),
  rule('http_redirects', 3, ({ plain, root }) => redirectFinding(plain, root)),
  rule('ocsp_stapling', 1, ({ shake }) => {
    if (shake.ocsp_stapled) return ['pass', 'OCSP stapling is enabled.']
    // Many certificate authorities have ended OCSP. Certificates without an OCSP server have nothing to staple.
    return shake.chain[0]?.has_ocsp ? ['warn', 'OCSP stapling is not enabled.'] : undefined
  }),
  rule('caa', 2, ({ caa }) => {
    if (caa === undefined) return undefined
    return caa
      ? ['pass', 'CAA records limit who may issue certificates.']
      : ['warn', 'No CAA record limits who may issue certificates.']
  }),
  rule('certificate_transparency', 2, ({ shake }) =>
    shake.chain[0]?.has_sct
      ? ['pass', 'The certificate has certificate transparency proofs (SCTs).']
      : ['warn', 'The certificate has no certificate transparency proof (SCT).'],
  ),
]

/** Certificate faults that other rules report. */
const toldElsewhere = new Set(['name_mismatch', 'weak_key'])

function trustOf(shake: Handshake): Judged {
  const fault = faultOf(shake)
  if (fault === null || toldElsewhere.has(fault)) return ['pass', 'The certificate is trusted.']
  return [
    'fail',
    `The certificate is not trusted: ${fault.replaceAll('_', ' ')}.`,
    shake.authorization_error ?? undefined,
  ]
}

function isTrusted(shake: Handshake): boolean {
  const fault = faultOf(shake)
  return shake.is_for_host && (fault === null || fault === 'weak_key')
}

function expiryOf({ chain }: Handshake, at: number): Judged {
  const [leaf] = chain
  if (!leaf) return undefined
  const days = daysLeft(leaf, at)
  if (days > GOOD_DAYS) return ['pass', `The certificate is valid for ${days} more days.`]
  if (days >= SOON_DAYS) return ['warn', `The certificate expires in ${days} days.`]
  return ['fail', days < 0 ? 'The certificate has expired.' : `The certificate expires in ${days} days.`]
}

/** Compares the validity period with the longest allowed one (CA/Browser Forum requirements, 6.3.2). */
function validityOf({ chain: [leaf] }: Handshake): Judged {
  if (!leaf) return undefined
  const from = Date.parse(leaf.valid_from)
  const days = Math.ceil((Date.parse(leaf.valid_to) - from) / DAY_MS)
  const most = from < SHORTER_FROM ? MOST_DAYS : SHORTER_DAYS
  return days <= most
    ? ['pass', `The certificate is issued for ${days} days.`]
    : ['warn', `The certificate is issued for ${days} days; browsers accept at most ${most} from public authorities.`]
}

function wanted(offer: Offer, name: string): Judged {
  if (offer === 'untested') return undefined
  return offer === 'yes' ? ['pass', `${name} is supported.`] : ['fail', `${name} is not supported.`]
}

function unwanted(offer: Offer, name: string): Judged {
  if (offer === 'untested') return undefined
  return offer === 'no' ? ['pass', `${name} are refused.`] : ['fail', `${name} are accepted.`]
}

function hstsFinding(value: string | undefined): Judged {
  const hsts = hstsOf(value)
  if (!hsts) return ['fail', 'Strict-Transport-Security is not sent.']
  if (!isLongEnough(hsts)) return ['warn', `Strict-Transport-Security lasts only ${hsts.days} days.`, value]
  return hsts.subdomains
    ? ['pass', 'Strict-Transport-Security is set, including subdomains.', value]
    : ['pass', 'Strict-Transport-Security is set, without subdomains.', value]
}

function redirectFinding(plain: WebResponse | undefined, root: WebResponse | undefined): Judged {
  if (!plain) return root ? ['pass', 'Port 80 does not answer.'] : undefined
  return plain.url.startsWith('https:')
    ? ['pass', 'Port 80 redirects to https.']
    : ['fail', 'Port 80 serves pages without TLS.', plain.url]
}

function certificateOf({ at }: Seen, { chain: [leaf] }: Handshake): Json {
  if (!leaf) return null
  return { ...leaf, names: [...leaf.names], key: { ...leaf.key }, days_left: daysLeft(leaf, at) }
}

/** Highest score of a host whose certificate is not trusted. */
const UNTRUSTED_MAX = 40
/** For each failed rule, the best grade that is still possible (from SSL Labs). Other rules only cost points. */
const caps: Readonly<Record<string, string>> = {
  no_weak_suites: 'F',
  key_strength: 'F',
  signature: 'F',
  tls12: 'C',
  no_old_versions: 'B',
  forward_secrecy: 'B',
  chain_complete: 'B',
  tls13: 'A-',
}
const order = ['F', 'C', 'B', 'A-', 'A', 'A+']

/** SSL Labs gives T to a host whose certificate is not trusted, and M to one whose certificate is for another name. */
const trustGrades = { certificate_trusted: 'T', name_matches: 'M' } as const

/** The grade; if trust is the reason for it, also the grade that is reached if trust issues are ignored. */
function gradesOf(findings: readonly Finding[]) {
  const reached = gradeOf(findings)
  const fault = keysOf(trustGrades).find((id) => findings.some((one) => one.id === id && one.status === 'fail'))
  return fault ? { grade: trustGrades[fault], grade_if_trusted: reached } : { grade: reached }
}

/** Grade A+ requires HSTS with a long lifetime; without it, the best grade is A. */
function gradeOf(findings: readonly Finding[]): string {
  const best = findings.some(({ id, status }) => id === 'hsts' && status === 'pass') ? 'A+' : 'A'
  const reached = findings.flatMap(({ id, status }) => (status === 'fail' ? (caps[id] ?? []) : []))
  return order[Math.min(...[best, ...reached].map((grade) => order.indexOf(grade)))] ?? 'F'
}

function withoutTls({ host, at }: Seen): Json {
  const none: Judged = ['fail', 'No TLS server answered on port 443.']
  const { findings } = judgeBy([rule('reachable', 1, () => none)], undefined)
  return {
    domain: host,
    score: 0,
    grade: 'F',
    protocols: [],
    protocols_not_tested: [...versions],
    ...shownFindings(findings),
    not_checked: ['all checks that need TLS'],
    checked_at: new Date(at).toISOString(),
  }
}
