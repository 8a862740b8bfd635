import type { Input } from '../../../src/api/endpoint/define.ts'
import type { Api } from '../../../src/api/index.ts'
import { type namedServiceAdminApi, SUBSCRIBING } from '../../../src/api/sections/named-services.ts'
import { AppError, invalidField, notFound } from '../../../src/core/error.ts'
import { parsePrice } from '../../../src/core/price.ts'
import { type NamedService, namedServices, namedSlugs } from '../../../src/model/service.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { firstParty } from '../../engines/first-party.ts'
import { audit } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { readPlatform, writePlatform } from '../../kernel/switches.ts'
import { commit } from '../../store/draw.ts'
import type { Draw, Tx } from '../../store/port.ts'
import { services } from '../listings/rows.ts'
import { putListing } from '../listings/write.ts'
import { namedServicesAfter, offerOf } from './named-services.ts'

type Change = Input<Api['setNamedService']>['body']
type Setting = { readonly slug: NamedService; readonly body: Change; readonly now: number; readonly ctx: Context }

export const namedServiceRoutes: FreeHandlers<typeof namedServiceAdminApi> = {
  /** Configures and enables a named path, or disables it (decisions §7). */
  setNamedService: async ({ params, body }, call) => {
    const { ctx, now } = call
    const slug = namedSlugs.find((one) => one === params.slug)
    if (slug === undefined) throw notFound(`The path ${params.slug} (advertised paths: ${namedSlugs.join(', ')})`)
    refuseUnclear(slug, body)
    const view = await commit(ctx, async (t, draw) => {
      const before = await readPlatform(t)
      const id = await targetOf(t, draw, { slug, body, now, ctx })
      const others = before.enabled.filter((name) => name !== slug)
      const after = await writePlatform(t, {
        named_services: await namedServicesAfter(t, before, { [slug]: id }),
        enabled: id === null ? others : [...others, slug],
      })
      const was = before.enabled.includes(slug) ? (before.named_services[slug] ?? null) : null
      const changed = was !== id || body.from !== undefined
      const detail = { before: was, after: after.named_services[slug] ?? null }
      await audit(t, draw, { act: 'named_service.set', subject: { kind: 'path', id: slug }, changed, detail, by: call })
      const { price } = id === null ? { price: undefined } : await offerOf(t, slug, id)
      return { ...viewOf(slug, id), price: price ?? null, changed }
    })
    await ctx.switches.follow()
    return view
  },
}

function viewOf(slug: NamedService, id: string | null) {
  const isPlan = slug === SUBSCRIBING
  return {
    slug,
    path: `/v1/services/${slug}`,
    enabled: id !== null,
    service_id: isPlan ? null : id,
    plan_id: isPlan ? id : null,
    advertised: { ...namedServices[slug] },
  }
}

const ways = ['from', 'listing', 'plan', 'enabled'] as const

/** @throws AppError 400 unless the body names exactly one valid way to serve the path */
function refuseUnclear(slug: NamedService, body: Change): void {
  const named = ways.filter((way) => body[way] !== undefined)
  if (named.length !== 1) {
    const message = `send exactly one of ${ways.join(', ')} (enabled: false disables the path)`
    throw new AppError('invalid_request', message, { details: [{ path: named[1] ?? 'from', message }] })
  }
  const [way] = named
  if (slug === SUBSCRIBING && (way === 'from' || way === 'listing')) {
    throw invalidField(way, `cannot serve ${slug}, which needs a monthly plan: send plan instead`)
  }
  if (slug !== SUBSCRIBING && way === 'plan') throw invalidField('plan', `cannot serve ${slug}: send listing or from`)
  if ((way === 'from') !== (body.price !== undefined)) throw invalidField('price', 'only allowed together with `from`')
}

async function targetOf(t: Tx, draw: Draw, setting: Setting): Promise<string | null> {
  const { listing, plan, from } = setting.body
  return from === undefined ? (listing ?? plan ?? null) : ownListing(t, draw, setting)
}

/** Creates a first-party listing for the path, or changes its price. */
async function ownListing(t: Tx, draw: Draw, { slug, body, now, ctx }: Setting): Promise<string> {
  const from = body.from as string // asked by targetOf
  const price = parsePrice(body.price)
  const { rows } = await t.table(services).page('slug', [from], { limit: MAX_OF_FUNCTION })
  const [model] = rows
  if (!model || !firstParty.of(ctx)(from)) throw invalidField('from', 'unknown function')
  const name = nameOf(slug)
  const held = rows.find((row) => row.name === name && row.status !== 'deleted')
  const fields = { price, pricing_model: 'fixed' as const, status: 'active' as const, updated_at: now }
  if (held) {
    await t.table(services).getForUpdate(held.id)
    return (await putListing(t, draw, { ...held, ...fields })).id
  }
  const { version: _, ...copied } = model
  const made = await t.table(services).insert({ ...copied, ...fields, id: draw.id('service'), name, listed_at: now })
  return (await putListing(t, draw, made)).id
}

/** Maximum listings of a first-party service: its own, and one for each named path. */
const MAX_OF_FUNCTION = 1 + namedSlugs.length

function nameOf(slug: NamedService): string {
  const words = slug.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
