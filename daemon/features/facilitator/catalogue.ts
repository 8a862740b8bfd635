import { hash } from 'node:crypto'
import { z } from 'zod'
import { discoveryMembers } from '../../../src/api/endpoint/x402.ts'
import { isAddress, toWallet } from '../../../src/core/hex.ts'
import { MAX_TEXT_CHARS, MAX_URL_CHARS } from '../../../src/core/limits.ts'
import { at, compact } from '../../../src/core/record.ts'
import { MINUTE_MS } from '../../../src/core/time.ts'
import type { Context } from '../../kernel/context.ts'
import { everyRow } from '../../store/each-page.ts'
import type { Draft } from '../../store/port.ts'
import type { FacilitatorAsk } from './ask.ts'
import { facilitatedResources, type ResourceRow } from './rows.ts'

/** Resources of the list; the one that was paid for longest ago makes room for a new one. */
export const MAX_RESOURCES = 1_000
/** Of what a resource says of itself, as JSON. */
const MAX_EXTENSION_CHARS = 16 * 1024
const PAGE_ROWS = 500
/** What is paid for all the time is written down again this often. */
const REFRESH_MS = 5 * MINUTE_MS

/** Whether what was paid for came onto the list, and why not. */
export type Catalogued =
  | { readonly status: 'success' }
  | { readonly status: 'rejected'; readonly rejectedReason: string }

const Url = z.string().max(MAX_URL_CHARS).refine(isPublicForm)
const Bazaar = z.object({ info: z.record(z.string(), z.json()), schema: z.record(z.string(), z.json()) })
const Told = z.object({
  description: z.string().max(MAX_TEXT_CHARS).catch(''),
  mimeType: z.string().max(MAX_URL_CHARS).catch(''),
  serviceName: z.string().optional().catch(undefined),
  tags: z.array(z.string()).optional().catch(undefined),
})
const Discoverable = z.object({ input: z.object({ discoverable: z.boolean().optional() }) })

/**
 * Puts what was paid for onto the list, where its server declared it: `outputSchema` in v1, the extension `bazaar` in v2.
 * @returns undefined where nothing was declared.
 */
export async function catalogue(ctx: Context, asked: FacilitatorAsk): Promise<Catalogued | undefined> {
  const extensions = declared(asked)
  if (extensions === undefined) return undefined
  const url = Url.safeParse(asked.resource)
  if (!url.success) return rejected('resource is no absolute http or https URL')
  const isWhole = asked.version === 1 || Bazaar.safeParse(extensions['bazaar']).success
  if (!isWhole) return rejected('bazaar has no info and schema')
  if (JSON.stringify(extensions).length > MAX_EXTENSION_CHARS) return rejected('the description is too long')
  await put(ctx, rowOf(ctx, { asked, url: url.data, extensions }))
  return { status: 'success' }
}

function rejected(rejectedReason: string): Catalogued {
  return { status: 'rejected', rejectedReason }
}

function isPublicForm(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
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
  return {
    id: hash('sha256', `${payTo} ${url}`),
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

/** Written down lately, in the same words. */
function isFresh({ version: _, ...known }: ResourceRow, draft: Draft<ResourceRow>): boolean {
  const same = { ...known, updated_at: draft.updated_at }
  return draft.updated_at - known.updated_at < REFRESH_MS && JSON.stringify(same) === JSON.stringify(draft)
}

export type ResourceFilter = {
  readonly type?: string | undefined
  readonly payTo?: string | undefined
  readonly scheme?: string | undefined
  readonly network?: string | undefined
  readonly extensions?: string | undefined
}

/** All that passes a filter, what was paid for last first. */
export async function resourcesFor(ctx: Context, filter: ResourceFilter): Promise<ResourceRow[]> {
  const { type = 'http', scheme = 'exact', payTo, network, extensions } = filter
  const { chain } = ctx
  const isOurs = type === 'http' && scheme === 'exact' && [undefined, chain.network, chain.caip2].includes(network)
  if (!isOurs || (payTo !== undefined && !isAddress(payTo))) return []
  const payee = payTo === undefined ? undefined : toWallet(payTo)
  const slice = { index: 'updated', prefix: [], limit: PAGE_ROWS, order: 'desc' as const }
  const rows = await ctx.store.read((t) => everyRow(t.table(facilitatedResources), slice))
  return rows.filter(
    (row) =>
      (payee === undefined || row.pay_to === payee) &&
      (extensions === undefined || Object.hasOwn(row.extensions, extensions)),
  )
}
