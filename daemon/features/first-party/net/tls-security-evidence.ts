import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Json } from '../../../../src/core/json.ts'
import type { WebResponse } from '../../../ports/web/exchange.ts'
import { defineService, type ServiceCtx } from '../service/service.ts'
import { domainOf } from './domain.ts'
import { shakeHands } from './handshake.ts'
import { judgeHeaders, shownHeaders } from './security-headers.ts'

const PORT = 443
/** Little of the body is read, since only the headers matter. */
const MAX_BODY_BYTES = 1_024

/** The TLS facts and the root page of a host at one moment, with a hash, but without a judgement. */
export const tlsSecurityEvidence = defineService({
  slug: 'tls_security_evidence',
  needs: ['tls'],
  isQuick: () => true,
  check: (input) => void domainOf(input),
  async read(input, ctx) {
    const { host } = domainOf(input)
    const seen = await shakeHands(ctx, host)
    const root = await rootOf(ctx, host)
    return { host, at: ctx.now(), seen, root: root && { ...root, body: undefined } }
  },
  make(_, { host, at, seen, root }) {
    const { address: _address, family, cipher, chain, ...facts } = seen
    const headers = root?.headers ?? {}
    const evidence = {
      domain: host,
      port: PORT,
      address_checked: 'public',
      address_family: family,
      protocol: facts.protocol,
      cipher: cipher.name,
      key_exchange_group: cipher.group,
      alpn: facts.alpn,
      authorized: facts.authorized,
      authorization_error: facts.authorization_error,
      is_for_host: facts.is_for_host,
      chain: chain.map((one) => ({ ...one, names: [...one.names], key: { ...one.key } })),
      ocsp_stapled: facts.ocsp_stapled,
      http: root ? { status: root.status, final_url: root.url, redirects: root.redirects.length } : null,
      headers: shownHeaders(headers),
      rubric: root ? judgeHeaders(headers).map((verdict) => ({ ...verdict })) : [],
    } satisfies { [member: string]: Json }
    return {
      tls_security_evidence: {
        ...evidence,
        // The hash excludes the time, so that equal facts have equal hashes.
        evidence_sha256: hash('sha256', canonicalize(evidence) ?? ''),
        not_checked: [...(root ? [] : ['headers']), 'revocation'],
        collected_at: new Date(at).toISOString(),
      },
    }
  },
})

/** Root page of a host. Undefined if it cannot be fetched, because the TLS facts are useful without it. */
export async function rootOf(
  { web, signal }: Pick<ServiceCtx, 'web' | 'signal'>,
  host: string,
  scheme: 'http' | 'https' = 'https',
): Promise<WebResponse | undefined> {
  try {
    return await web.get(`${scheme}://${host}/`, { maxBytes: MAX_BODY_BYTES, truncate: true, signal, timeoutMs: 8_000 })
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}
