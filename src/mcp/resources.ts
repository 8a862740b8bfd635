import { eachText } from '../cli/answer.ts'
import { CliError } from '../cli/exit.ts'
import { askedAs } from '../cli/nouns/jobs/jobs.ts'
import type { Session, SessionHost } from '../cli/session.ts'
import { freeReader } from '../cli/wallet/signing-in.ts'
import { bounded } from './shown.ts'

const LISTED_MAX = 50
const NAME_CHARS_MAX = 120
const MIME = 'application/json'
const URI = /^souk:\/\/(services|jobs)\/((?:svc|job)_[0-9a-f]{16})$/

export const resourceTemplates = [
  { uriTemplate: 'souk://services/{id}', name: 'listing', description: 'a listing as buyers see it', mimeType: MIME },
  { uriTemplate: 'souk://jobs/{id}', name: 'job', description: 'a job of this wallet', mimeType: MIME },
]

/** Resources of a wallet: the catalog's listings, and the wallet's newest jobs if it has an API key. */
export async function listResources(session: Session) {
  const { services } = await session.call('getCatalog', { query: { limit: String(LISTED_MAX) } })
  const key = await session.apiKey()
  const headers = key === undefined ? undefined : { 'x-api-key': key }
  const jobs =
    headers === undefined
      ? []
      : (await session.call('listJobs', { query: { limit: String(LISTED_MAX) }, headers })).jobs
  return [
    ...services.map(({ id, name, agent_price, description }) => ({
      uri: `souk://services/${id}`,
      name: bounded(name, NAME_CHARS_MAX),
      description: `${agent_price.fixed ?? 'price on request'}: ${bounded(description, NAME_CHARS_MAX)}`,
      mimeType: MIME,
    })),
    ...jobs.map(({ job_id: id, status }) => ({
      uri: `souk://jobs/${id}`,
      name: id,
      description: `a job, ${bounded(status, NAME_CHARS_MAX)}`,
      mimeType: MIME,
    })),
  ]
}

/** Reads a resource without paying. @throws CliError not_found for an unknown address */
export async function readResource(host: SessionHost, session: Session, uri: string) {
  const [, kind, id = ''] = URI.exec(uri) ?? []
  if (kind === undefined) throw new CliError('not_found', `There is no resource ${bounded(uri, NAME_CHARS_MAX)}.`)
  const body =
    kind === 'services' ? await session.call('getService', { params: { id } }) : await jobOf(host, session, id)
  return { contents: [{ uri, mimeType: MIME, text: JSON.stringify(eachText(body, (text) => bounded(text))) }] }
}

async function jobOf(host: SessionHost, session: Session, id: string) {
  const job = await freeReader(host, session)('getJob', await askedAs(host, session, id))
  if (job !== undefined) return job
  throw new CliError('auth', `This wallet has no access to ${id}.`, { next: ['souk account register'] })
}
