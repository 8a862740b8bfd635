import { defineCall, defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { formatPrice } from '../../src/core/money.ts'
import { compact } from '../../src/core/record.ts'
import { type NamedService, namedServices, namedSlugs } from '../../src/model/service.ts'
import { green } from '../../src/text/text.ts'

type Named = { readonly slug: NamedService; readonly enabled: boolean; readonly sells: string | null }

const columns: readonly Column<Named>[] = [
  { title: 'PATH', value: ({ slug }) => `/v1/services/${slug}` },
  { title: 'STATE', value: ({ enabled, sells }) => (enabled && sells !== null ? 'on' : 'off') },
  { title: 'SELLS', value: ({ sells }) => sells ?? '-' },
  { title: 'ADVERTISED', value: ({ slug }) => rangeOf(slug), drop: 1 },
]

function rangeOf(slug: NamedService): string {
  const { min, max } = namedServices[slug]
  return min === max ? formatPrice(min) : `${formatPrice(min)} to ${formatPrice(max)}`
}

export const adminNamedServicesList = defineCommand({
  name: 'admin named-services list',
  summary: 'list advertised paths with their listings',
  description: 'Needs the admin key of the instance.',
  isDefault: true,
  examples: ['souk admin named-services', 'souk admin named-services list --json'],
  async run(context) {
    const { features, named_services: named } = await (await context.session()).call('getFeatures', {})
    const paths = namedSlugs.map((slug) => ({
      slug,
      enabled: features.some(({ name, enabled }) => name === slug && enabled),
      sells: named[slug] ?? null,
    }))
    return { paths }
  },
  rows: ({ paths }) => paths,
  columns,
  view: ({ paths }, io) => printRows(io, columns, paths),
})

const OFF = 'off'

export const adminNamedServicesSet = defineCall({
  name: 'admin named-services set',
  summary: 'set which listing or plan an advertised path sells, or disable the path',
  description:
    '--from sells a house function on the path, at the price given by --price. --listing and --plan make the path an alias of a listing or plan. Needs the admin key of the instance.',
  args: z.object({
    slug: z.enum(namedSlugs).meta({ description: 'last part of the path, such as site-audit' }),
    off: z.literal(OFF).optional().meta({ description: 'close the path' }),
  }),
  options: z.object({
    from: z.text({ description: 'house function', value: 'function' }),
    price: z.text({ description: 'price of the function in --from, within the advertised range', value: 'amount' }),
    listing: z.text({ description: 'id of a listing', value: 'id' }),
    plan: z.text({ description: 'id of a monthly plan', value: 'id' }),
  }),
  examples: [
    'souk admin named-services set site-audit --from seo_audit --price 5.00',
    'souk admin named-services set site-audit off --json',
  ],
  asks: 'setNamedService',
  asked(context) {
    const { slug, off } = context.args
    const ways = compact(context.options)
    const isNothing = Object.keys(ways).length === 0
    if ((off === undefined) === isNothing) {
      throw usage(`Choose what ${slug} sells: --from with --price, --listing, --plan, or "${OFF}" to close it.`)
    }
    return { params: { slug }, body: off === undefined ? ways : { enabled: false } }
  },
  view({ path, enabled, service_id: listing, plan_id: plan, price }, io) {
    io.line(`${green('✓')} ${path} ${enabled ? `sells ${listing ?? plan} at $${price}` : 'is closed and returns 404'}`)
  },
})
