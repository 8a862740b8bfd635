import type { z } from 'zod'
import { type OwnParticipant, Participant } from '../../../src/api/sections/participants.ts'
import { type profilesApi, REGISTRATION_TYPE } from '../../../src/api/sections/profiles.ts'
import { checksumAddress } from '../../../src/core/hex.ts'
import { pick } from '../../../src/core/record.ts'
import type { ParticipantRow } from '../../kernel/rows.ts'
import type { ReadTx } from '../../store/port.ts'
import { services } from '../listings/rows.ts'
import { type IdentityLinkRow, identityLinks } from '../reputation/rows.ts'
import { type TrustAsked, trustOf } from '../reputation/trust.ts'

export function participantView(row: ParticipantRow): z.output<typeof Participant> {
  return {
    ...pick(row, Participant.shape),
    participant_id: row.id,
  }
}

/** A participant's own view. The webhook secret appears only in the response to its rotation. */
export function ownParticipantView(row: ParticipantRow, rotated: boolean): z.output<typeof OwnParticipant> {
  return {
    ...participantView(row),
    webhook_url: row.webhook_url,
    endpoint_header: row.endpoint_header?.name ?? null,
    listable: row.listable,
    in_directory: row.in_directory,
    terms_version: row.terms_version,
    updated_at: row.updated_at,
    ...(rotated ? { webhook_secret: row.webhook_secret } : {}),
    ...(rotated && row.previous_webhook_secret ? { previous_secret_until: row.previous_webhook_secret.until } : {}),
  }
}

type Profile = z.output<typeof profilesApi.getProfile.reply.schema>
type RegistrationFile = z.output<typeof profilesApi.getIdentityFile.reply.schema>

/** All public data of a participant. */
export async function profileView(t: ReadTx, row: ParticipantRow, asked: TrustAsked): Promise<Profile> {
  const trust = await trustOf(t, row, asked)
  const link = await t.table(identityLinks).get(row.id)
  return {
    ...participantView(row),
    trust,
    reputation: { band: trust.score, confidence: trust.confidence, is_new: trust.is_new },
    ...(row.type === 'agent' ? {} : { webhook_health: await webhookHealth(t, row.id) }),
    identity: link ? linkedIdentity(link) : null,
    identity_url: identityUrl(row.id, asked.baseUrl),
  }
}

async function webhookHealth(t: ReadTx, id: string): Promise<NonNullable<Profile['webhook_health']>> {
  const listings = await t.table(services).count('provider', [id, 'active'])
  const healthy = await t.table(services).count('healthy', [id, 'active'])
  return { healthy: listings === 0 ? null : healthy === listings, listings, healthy_listings: healthy }
}

export function linkedIdentity({ agent_registry, agent_id, linked_at }: IdentityLinkRow) {
  return { agent_registry, agent_id, linked_at }
}

export function identityUrl(participantId: string, baseUrl: string): string {
  return `${baseUrl}/v1/participants/${participantId}/identity.json`
}

/** Service names as ERC-8004 writes them; links may use any case. */
const serviceNames = ['web', 'A2A', 'MCP', 'OASF', 'ENS', 'DID', 'email']

type Facts = { readonly link: IdentityLinkRow | undefined; readonly chainId: number; readonly baseUrl: string }

/** The registration file (ERC-8004 "registration-v1"): self-description and endpoints. */
export function registrationFile(row: ParticipantRow, { link, chainId, baseUrl }: Facts): RegistrationFile {
  const { image, ...links } = row.links
  return {
    type: REGISTRATION_TYPE,
    name: row.name,
    description: row.description,
    image: image ?? plainImage(row),
    services: [...ownServices(links), ...servicesHere(row, { chainId, baseUrl })],
    x402Support: row.type !== 'agent',
    active: row.suspended_at === null,
    registrations: link ? [{ agentId: Number(link.agent_id), agentRegistry: link.agent_registry }] : [],
    supportedTrust: ['reputation'],
  }
}

function ownServices(links: Readonly<Record<string, string>>): RegistrationFile['services'] {
  return Object.entries(links).map(([link, endpoint]) => {
    const known = serviceNames.find((name) => name.toLowerCase() === link.toLowerCase())
    return { name: known ?? link, endpoint }
  })
}

function servicesHere(row: ParticipantRow, { chainId, baseUrl }: Omit<Facts, 'link'>): RegistrationFile['services'] {
  const catalog = { name: 'x402', endpoint: `${baseUrl}/v1/services/catalog?provider=${row.id}` }
  return [
    { name: 'profile', endpoint: `${baseUrl}/v1/participants/${row.id}/profile` },
    ...(row.type === 'agent' ? [] : [catalog]),
    { name: 'agentWallet', endpoint: `eip155:${chainId}:${checksumAddress(row.wallet)}` },
  ]
}

const COLOR_START = 2
const COLOR_END = 8

/** An image for ERC-8004 readers if there is no `image` link: a square whose colour comes from the wallet address. */
function plainImage({ wallet }: ParticipantRow): string {
  const fill = wallet.slice(COLOR_START, COLOR_END)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path fill="#${fill}" d="M0 0h1v1H0z"/></svg>`
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
