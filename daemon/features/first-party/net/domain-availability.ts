import type { Json } from '../../../../src/core/json.ts'
import { DnsError } from '../../../ports/dns/message.ts'
import type { DomainRegistration } from '../../../ports/upstream/rdap.ts'
import { defineService, type ServiceCtx, wrongField } from '../service/service.ts'
import { fromUpstream } from '../service/upstream.ts'
import { type Domain, domainOf } from './domain.ts'

type Registered = Domain & { readonly registrable: string }

/** Whether a domain is registered, according to its registry and to its name servers. */
export const domainAvailability = defineService({
  slug: 'domain_availability',
  needs: ['rdap', 'dns'],
  isQuick: () => true,
  check: (input) => void registered(domainOf(input)),
  async read(input, ctx) {
    const domain = registered(domainOf(input))
    const [registration, isDelegated] = await Promise.all([
      fromUpstream(ctx.engines.rdap.domain(domain.registrable, ctx.signal), 'domain'),
      delegated(ctx, domain.registrable),
    ])
    return { domain, registration, isDelegated, at: ctx.now() }
  },
  make(_, { domain: { host, registrable }, registration, isDelegated, at }): Json {
    const isTaken = registration !== undefined
    const isDisputed = !isTaken && isDelegated === true
    const notes = [
      ...(host === registrable ? [] : [`${host} is part of ${registrable}; only ${registrable} can be registered.`]),
      ...(isDisputed ? ['The registry does not list the domain, yet name servers answer for it.'] : []),
      ...(isTaken || isDisputed ? [] : ['Reserved and premium names look the same as free ones.']),
    ]
    const { status, nameservers, ...dates } = registration ?? unregistered
    return {
      domain: host,
      registrable_domain: registrable,
      available: !isTaken && !isDisputed,
      confidence: isDisputed || isDelegated === undefined ? 'low' : 'high',
      ...dates,
      status: [...status],
      nameservers: [...nameservers],
      method: isDelegated === undefined ? 'rdap' : 'rdap+dns',
      ...(notes.length === 0 ? {} : { note: notes.join(' ') }),
      checked_at: new Date(at).toISOString(),
      engine: { name: 'rdap', version: '1', kind: 'upstream', fetched_at: new Date(at).toISOString() },
    }
  },
})

const unregistered: DomainRegistration = {
  registrar: null,
  registered_at: null,
  expires_at: null,
  status: [],
  nameservers: [],
}

function registered(domain: Domain): Registered {
  const { registrable } = domain
  if (registrable === null) throw wrongField('domain', 'is a public suffix, such as co.uk')
  return { ...domain, registrable }
}

/** Whether a domain has name servers; undefined if no resolver knows. */
async function delegated({ engines, signal }: ServiceCtx<'dns'>, name: string): Promise<boolean | undefined> {
  try {
    const { rcode, records } = await engines.dns.ask({ name, type: 'NS' }, signal)
    if (rcode !== 'NOERROR' && rcode !== 'NXDOMAIN') return undefined
    return records.some(({ type }) => type === 'NS')
  } catch (error) {
    if (!(error instanceof DnsError) || signal.aborted) throw error
    return undefined
  }
}
