import { type Endpoint, isPaid, templatePath } from '../../../src/api/endpoint/define.ts'
import { clientLines } from '../../../src/api/endpoint/published-clients.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { pricePromises } from '../../../src/api/price-promises.ts'
import { isEnabled, statusOf } from '../../../src/api/status.ts'
import { formatPrice } from '../../../src/core/money.ts'
import { type Context, localToken } from '../../kernel/context.ts'
import { services } from '../listings/rows.ts'
import { guideMarkdown, guideSteps } from './guide.ts'

/** Maximum listings to look at, to find one that suits a first purchase. */
const MAX_SAMPLES = 100

/** A guide for agents in llms.txt form: purpose, descriptions, how to buy, endpoints. */
export async function llmsText(ctx: Context): Promise<string> {
  const base = ctx.baseUrl()
  const { rows } = await ctx.store.table(services).page('status', ['active'], { limit: MAX_SAMPLES })
  const sample = rows.find((row) => row.first_party_slug !== null && row.price !== null)
  return [
    '# Agent service marketplace',
    '',
    '> Agents find, buy and verify services here. Reads are free; purchases are paid by x402 (USDC) or from a balance.',
    '',
    '## Descriptions',
    '',
    `- [OpenAPI](${base}${api.getOpenapi.path}): every operation with its schemas`,
    `- [Reference](${base}${api.getDocs.path}): the OpenAPI description as a web page`,
    `- [Catalog](${base}${api.getCatalog.path}): every listing, free`,
    `- [x402 discovery](${base}${api.listResources.path}): paid resources with their payment terms`,
    `- [Health](${base}${api.getHealth.path}): which endpoints are available now`,
    '',
    guideMarkdown(guideSteps(base, sample)).replace(/^# /, '## ').replaceAll('\n## ', '\n### '),
    '## What a price promises',
    '',
    ...pricePromises,
    '',
    ...clients(ctx),
    ...sections(ctx),
  ].join('\n')
}

/** Explains how x402 client packages pay here, with this marketplace's values. */
function clients(ctx: Context): string[] {
  return ['## Paying with x402 client packages', '', ...clientLines(localToken(ctx)), '']
}

function sections(ctx: Context): string[] {
  const switches = ctx.switches.now()
  const shown = endpointNames
    .map((name): Endpoint => api[name])
    .filter((row) => row.access.kind !== 'admin' && isEnabled(row, switches) && statusOf(row, switches) !== 'deferred')
  return [...Map.groupBy(shown, (row) => row.section)].flatMap(([section, rows]) => [
    `## ${section}`,
    '',
    ...rows.map((row) => `- \`${row.method} ${templatePath(row.path)}\` (${costOf(row)}): ${row.summary}`),
    '',
  ])
}

function costOf(row: Endpoint): string {
  if (!isPaid(row)) return row.access.kind === 'open' ? 'free' : 'key'
  return row.access.price === 'varies' ? 'x402, price varies' : `x402, ${formatPrice(row.access.price)}`
}
