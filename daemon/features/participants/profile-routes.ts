import type { z } from 'zod'
import type { Input } from '../../../src/api/endpoint/define.ts'
import { type OwnParticipant, Participant } from '../../../src/api/sections/participants.ts'
import { type identityLinkApi, type profilesApi, REGISTRATION_TYPE } from '../../../src/api/sections/profiles.ts'
import { AppError, notFound } from '../../../src/core/error.ts'
import { checksumAddress, type Wallet } from '../../../src/core/hex.ts'
import { pick } from '../../../src/core/record.ts'
import type { EventType } from '../../../src/model/event-types.ts'
import type { Call, FreeHandlers } from '../../endpoint/handler.ts'
import { signerOf } from '../../endpoint/signed-message.ts'
import { emit } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { type ParticipantRow, participantNamed, participantOfWallet, refuseSuspended } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, ReadTx, Tx } from '../../store/port.ts'
import { services } from '../listings/rows.ts'
import { type TrustAsked, trustOf } from '../reputation/routes.ts'
import { type IdentityLinkRow, identityLinks } from '../reputation/rows.ts'

/** A participant by id or wallet. @throws AppError 404, also if unlisted, so that its existence stays private */
async function listedParticipant(t: ReadTx, idOrWallet: string): Promise<ParticipantRow> {
  const row = await participantNamed(t, idOrWallet)
  if (!row?.in_directory) throw notFound('The participant')
  return row
}

export const profileRoutes: FreeHandlers<typeof profilesApi & typeof identityLinkApi> = {
  getProfile: async ({ params }, { ctx, now }) =>
    ctx.store.read(async (t) => profileView(t, await listedParticipant(t, params.id), { now, baseUrl: ctx.baseUrl() })),

  getIdentityFile: async ({ params }, { ctx }) =>
    ctx.store.read(async (t) => {
      const row = await listedParticipant(t, params.id)
      const link = await t.table(identityLinks).get(row.id)
      return registrationFile(row, { link, chainId: ctx.chain.chainId, baseUrl: ctx.baseUrl() })
    }),

  /** Asks the chain for the identity's owner before it writes. A participant can link only one identity. */
  linkIdentity: async ({ body }, call) => {
    const { ctx, now, wall } = call
    const owner = await linkingParticipant(body, call)
    refuseSuspended(owner)
    const identity = { agent_registry: body.agent_registry.toLowerCase(), agent_id: String(body.agent_id) }
    const holder = await ownerOf(ctx, identity)
    if (holder === undefined) throw notFound(`Agent ${identity.agent_id} of ${body.agent_registry}`)
    if (holder !== owner.wallet) throw new AppError('forbidden', 'This identity belongs to another wallet.')
    const row = await commit(ctx, (t, draw) => putLink(t, draw, { owner, identity, now, wall }))
    return {
      ...linkedIdentity(row),
      participant_id: owner.id,
      id: owner.id,
      wallet: owner.wallet,
      identity_url: identityUrl(owner.id, ctx.baseUrl()),
    }
  },
}

type LinkBody = Input<typeof identityLinkApi.linkIdentity>['body']
type LinkCall = Call<typeof identityLinkApi.linkIdentity.access>

/** The participant of the API key, or of the wallet that signed. @throws AppError 401, 403 */
async function linkingParticipant(body: LinkBody, call: LinkCall): Promise<ParticipantRow> {
  const { ctx, caller } = call
  if (caller) {
    if (body.wallet === undefined || body.wallet === caller.wallet) return caller
    throw new AppError('forbidden', 'wallet: does not belong to this API key.')
  }
  const row = await ctx.store.read((t) => participantOfWallet(t, signingWallet(body, call)))
  if (!row) throw new AppError('registration_required', 'This wallet is not registered: POST /v1/register first.')
  return row
}

function signingWallet(body: LinkBody, { ctx, wall }: LinkCall): Wallet {
  const { wallet, signature, timestamp, agent_registry, agent_id } = body
  if (wallet === undefined || signature === undefined || timestamp === undefined) {
    throw new AppError(
      'unauthorized',
      'This endpoint needs an API key, or wallet, signature and timestamp in the body.',
    )
  }
  const lines = [
    'souk identity link v1',
    `origin: ${ctx.baseUrl()}`,
    `agent_registry: ${agent_registry}`,
    `agent_id: ${agent_id}`,
  ]
  if (signerOf(ctx, { signature, timestamp: String(timestamp), lines, wall }) !== wallet) {
    throw new AppError('unauthorized', 'signature: does not match wallet, agent_registry, agent_id and timestamp.')
  }
  return wallet
}

type Identity = Pick<IdentityLinkRow, 'agent_registry' | 'agent_id'>

async function ownerOf({ chain, log }: Context, { agent_registry, agent_id }: Identity): Promise<Wallet | undefined> {
  try {
    return await chain.identityRegistry.ownerOf(agent_registry, BigInt(agent_id))
  } catch (error) {
    log.warn({ source: 'identity', err: String(error) }, 'the chain did not answer')
    throw new AppError('unavailable', 'The chain does not answer.', { retryAfter: 60, cause: error })
  }
}

type Linking = {
  readonly owner: ParticipantRow
  readonly identity: Identity
  readonly now: number
  readonly wall: number
}

async function putLink(t: Tx, draw: Draw, { owner, identity, now, wall }: Linking): Promise<IdentityLinkRow> {
  const table = t.table(identityLinks)
  const before = (await table.page('agent', [identity.agent_registry, identity.agent_id], { limit: 1 })).rows[0]
  if (before && before.id !== owner.id) {
    // The identity has a new owner, so the earlier owner's link is obsolete.
    await table.delete(before.id)
    await announce(t, draw, { type: 'identity.unlinked', id: before.id, identity, at: now })
  }
  const locked = await table.getForUpdate(owner.id)
  const link = { id: owner.id, wallet: owner.wallet, ...identity, linked_at: wall }
  const row = locked ? await table.put({ ...locked, ...link }) : await table.insert(link)
  await announce(t, draw, { type: 'identity.linked', id: owner.id, identity, at: now })
  return row
}

type Announced = { readonly type: EventType; readonly id: string; readonly identity: Identity; readonly at: number }

async function announce(t: Tx, draw: Draw, { type, id, identity, at }: Announced): Promise<void> {
  await emit(t, draw, { type, participantId: id, subject: { kind: 'participant', id }, data: { ...identity }, at })
}

export function participantView(row: ParticipantRow): z.output<typeof Participant> {
  return { ...pick(row, Participant.shape), participant_id: row.id }
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
async function profileView(t: ReadTx, row: ParticipantRow, asked: TrustAsked): Promise<Profile> {
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

function identityUrl(participantId: string, baseUrl: string): string {
  return `${baseUrl}/v1/participants/${participantId}/identity.json`
}

/** Service names as ERC-8004 writes them; links may use any case. */
const serviceNames = ['web', 'A2A', 'MCP', 'OASF', 'ENS', 'DID', 'email']

type Facts = { readonly link: IdentityLinkRow | undefined; readonly chainId: number; readonly baseUrl: string }

/** The registration file (ERC-8004 "registration-v1"): self-description and endpoints. */
function registrationFile(row: ParticipantRow, { link, chainId, baseUrl }: Facts): RegistrationFile {
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
