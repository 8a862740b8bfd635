import { type NamedService, namedServices, namedSlugs } from '../../../src/api/sections/named-services.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import { formatPrice } from '../../../src/core/money.ts'

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

export const command = defineCommand({
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
