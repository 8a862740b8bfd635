import { hash } from 'node:crypto'
import { z } from 'zod'
import { discoveryMembers } from '../../../src/api/endpoint/x402.ts'
import { AppError } from '../../../src/core/error.ts'
import { isAddress, toWallet } from '../../../src/core/hex.ts'
import { MAX_TEXT_CHARS, MAX_URL_CHARS } from '../../../src/core/limits.ts'
import { at, compact } from '../../../src/core/record.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import { schemas } from '../../engines/schemas.ts'
import type { Context } from '../../kernel/context.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draft } from '../../store/port.ts'
import type { DiscoveryFilter } from '../discovery/routes.ts'
import type { FacilitatorAsk } from './ask.ts'
import { facilitatedResources, type ResourceRow } from './rows.ts'

/** Maximum resources listed. The resource whose last payment is oldest is dropped first. */
export const MAX_RESOURCES = 1_000
/** Maximum JSON length of a resource's self-description. */
const MAX_EXTENSION_CHARS = 16 * 1024
const PAGE_ROWS = 500
/** A payment rewrites an unchanged resource only if its row is at least this old. */
const REFRESH_MS = 5 * MINUTE_MS

export type Catalogued =
  | { readonly status: 'success' }
  | { readonly status: 'rejected'; readonly rejectedReason: string }

const Url = z.string().max(MAX_URL_CHARS).refine(isPublicForm)
const MAX_TOOL_CHARS = 200
/** The request that an entry describes: an HTTP call, or an MCP tool. */
const Input = z.discriminatedUnion('type', [
  z.object({ type: z.literal('http') }),
  z.object({ type: z.literal('mcp'), toolName: z.string().min(1).max(MAX_TOOL_CHARS) }),
])
const JsonRecord = z.record(z.string(), z.json())
const Bazaar = z.object({ info: JsonRecord, schema: JsonRecord, routeTemplate: z.string().optional().catch(undefined) })
type Bazaar = z.infer<typeof Bazaar>
/** A path template with `:name` segments, as in x402. */
const TEMPLATE = /^\/[a-zA-Z0-9_/:.\-~%]+$/
const Told = z.object({
  description: z.string().max(MAX_TEXT_CHARS).catch(''),
  mimeType: z.string().max(MAX_URL_CHARS).catch(''),
  serviceName: z.string().optional().catch(undefined),
  tags: z.array(z.string()).optional().catch(undefined),
})
const Discoverable = z.object({ input: z.object({ discoverable: z.boolean().optional() }) })

/**
 * Lists the paid resource if its server described it: in `outputSchema` (v1) or the extension `bazaar` (v2).
 * @returns undefined without a description
 */
export async function catalogue(ctx: Context, asked: FacilitatorAsk): Promise<Catalogued | undefined> {
  const extensions = declared(asked)
  if (extensions === undefined) return undefined
  const url = Url.safeParse(asked.resource)
  if (!url.success) return rejected('resource must be an absolute http, https or mcp URL')
  if (JSON.stringify(extensions).length > MAX_EXTENSION_CHARS) return rejected('the description is too long')
  const place = new URL(url.data)
  if (asked.version === 1) {
    await put(ctx, rowOf(ctx, { asked, url: addressOf(place), extensions }))
    return { status: 'success' }
  }
  const read = Bazaar.safeParse(extensions['bazaar'])
  if (!read.success) return rejected('bazaar needs info and schema')
  const fault = await faultOfBazaar(ctx, asked, read.data)
  if (fault !== undefined) return rejected(fault)
  const { routeTemplate, ...bazaar } = read.data
  const template = routeTemplate !== undefined && isTemplateOf(routeTemplate, place.pathname) ? { routeTemplate } : {}
  const address = addressOf(place, template.routeTemplate)
  await put(ctx, rowOf(ctx, { asked, url: address, extensions: { bazaar: { ...bazaar, ...template } } }))
  return { status: 'success' }
}

/** Why a description would mislead buyers; undefined if it would not. */
async function faultOfBazaar(ctx: Context, asked: FacilitatorAsk, { info, schema }: Bazaar) {
  if (!Input.safeParse(info['input']).success)
    return 'bazaar.info.input must have type http, or type mcp with a toolName'
  const how = { who: asked.requirement.payTo }
  try {
    await schemas.of(ctx).refuseBroken({ input_schema: schema, at: 'bazaar.' }, how)
    const checked = await schemas.of(ctx).checkInput(schema, info, how)
    return checked.ok ? undefined : 'bazaar.info does not match bazaar.schema'
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request')
      return 'bazaar.schema is invalid, too large or has external references'
    throw error
  }
}

/** A resource's URL without its query, so that one route is one entry. */
function addressOf({ protocol, host, pathname }: URL, path = pathname): string {
  return `${protocol}//${host}${path}`
}

function isTemplateOf(template: string, pathname: string): boolean {
  if (!TEMPLATE.test(template) || template.length > MAX_URL_CHARS) return false
  const [names, given] = [template.split('/'), pathname.split('/')]
  return (
    names.length === given.length && names.every((name, i) => (/^:\w/.test(name) ? given[i] !== '' : name === given[i]))
  )
}

/** The MCP tool that an entry describes; undefined for an HTTP call. */
function toolOf({ extensions }: Pick<ResourceRow, 'extensions'>): string | undefined {
  const read = Bazaar.safeParse(extensions['bazaar'])
  const input = read.success ? Input.safeParse(read.data.info['input']) : undefined
  return input?.success && input.data.type === 'mcp' ? input.data.toolName : undefined
}

function rejected(rejectedReason: string): Catalogued {
  return { status: 'rejected', rejectedReason }
}

function isPublicForm(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^(https?|mcp):$/.test(url.protocol) && url.username === '' && url.password === ''
}

function declared({ version, required, payload }: FacilitatorAsk): ResourceRow['extensions'] | undefined {
  if (version === 1) {
    const { outputSchema } = required
    const read = Discoverable.safeParse(outputSchema)
    return read.success && read.data.input.discoverable !== false && outputSchema !== undefined
      ? { outputSchema }
      : undefined
  }
  const { extensions } = payload
  const isThere = typeof extensions === 'object' && extensions !== null && !Array.isArray(extensions)
  return isThere && extensions['bazaar'] !== undefined ? { bazaar: extensions['bazaar'] } : undefined
}

type Entry = { readonly asked: FacilitatorAsk; readonly url: string; readonly extensions: ResourceRow['extensions'] }

function rowOf({ clock }: Context, { asked, url, extensions }: Entry): Draft<ResourceRow> {
  const { payTo } = asked.requirement
  const told = Told.parse(asked.version === 1 ? asked.required : asked.payload['resource'])
  const { serviceName, tags = [] } = discoveryMembers(compact(told))
  const tool = toolOf({ extensions })
  return {
    id: hash('sha256', tool === undefined ? `${payTo} ${url}` : `${payTo} ${url} ${tool}`),
    x402_version: asked.version,
    resource: url,
    pay_to: payTo,
    accepts: asked.required,
    description: told.description,
    mime_type: told.mimeType,
    service_name: serviceName ?? null,
    tags,
    extensions,
    updated_at: clock.wall(),
  }
}

async function put({ store }: Context, draft: Draft<ResourceRow>): Promise<void> {
  const known = await store.table(facilitatedResources).get(draft.id)
  if (known && isFresh(known, draft)) return
  await store.tx(async (t) => {
    const table = t.table(facilitatedResources)
    const before = await table.getForUpdate(draft.id)
    if (!before && (await table.count('updated', [])) >= MAX_RESOURCES) {
      const { rows } = await table.page('updated', [], { limit: 1 })
      await table.delete(at(rows, 0).id)
    }
    await table.put(draft)
  })
}

function isFresh({ version: _, ...known }: ResourceRow, draft: Draft<ResourceRow>): boolean {
  const same = { ...known, updated_at: draft.updated_at }
  return draft.updated_at - known.updated_at < REFRESH_MS && JSON.stringify(same) === JSON.stringify(draft)
}

/** Resources that match a filter, latest paid first. */
export async function resourcesFor(ctx: Context, filter: DiscoveryFilter): Promise<ResourceRow[]> {
  const { type, scheme = 'exact', payTo, network, extensions } = filter
  if (scheme !== 'exact' || (payTo !== undefined && !isAddress(payTo))) return []
  const payee = payTo === undefined ? undefined : toWallet(payTo)
  const slice = { index: 'updated', prefix: [], limit: PAGE_ROWS, order: 'desc' as const }
  const rows = await ctx.store.read((t) => everyRow(t.table(facilitatedResources), slice))
  return rows.filter(
    (row) =>
      (payee === undefined || row.pay_to === payee) &&
      (type === undefined || type === typeOf(row)) &&
      // Compares the name as the server wrote it, because x402 v1 and v2 name a network differently.
      (network === undefined || row.accepts['network'] === network) &&
      (extensions === undefined || Object.hasOwn(row.extensions, extensions)),
  )
}

export function typeOf(row: Pick<ResourceRow, 'extensions'>): 'http' | 'mcp' {
  return toolOf(row) === undefined ? 'http' : 'mcp'
}
