import type { WireAnswer } from '../src/api/index.ts'
import { defineCall, defineCommand } from '../src/cli/command.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { compact } from '../src/core/record.ts'
import { dim, linesOf } from '../src/text/text.ts'

export const discoveryOptions = {
  payTo: z.text({ description: 'only with this payee', value: 'address' }),
  scheme: z.text({ description: 'only with this x402 scheme', value: 'name' }),
  network: z.text({ description: 'only on this chain, by name or CAIP-2 id', value: 'name' }),
  limit: z.between(1, 100).default(20).meta({ description: 'rows per page' }),
}

export const resourceColumns: readonly Column<WireAnswer<'listResources'>['items'][number]>[] = [
  { title: 'RESOURCE', value: ({ resource }) => resource, flexible: true },
  { title: 'NAME', value: ({ serviceName }) => serviceName, flexible: true },
  { title: 'ATOMIC', value: ({ accepts }) => accepts[0]?.amount, align: 'right' },
  { title: 'NETWORK', value: ({ accepts }) => accepts[0]?.network, drop: 1 },
]

export const discoveryGuide = defineCommand({
  name: 'discovery guide',
  summary: 'print the guide for agents (/llms.txt)',
  examples: ['souk discovery guide', 'souk discovery guide --json'],
  async run(context) {
    return { text: await (await (await context.session()).open('getLlmsText', {})).text() }
  },
  view({ text }, io) {
    // On a terminal each line gets a prefix; a pipe gets the raw text.
    for (const line of linesOf(text.trimEnd())) io.line(io.isTty ? dim('│ ') + line : line)
  },
})

export const discoveryList = defineCall({
  name: 'discovery list',
  isDefault: true,
  summary: 'list the paid endpoints that x402 clients can discover',
  options: z.object({ ...discoveryOptions, page: z.int().min(1).default(1).meta({ description: 'page number' }) }),
  examples: ['souk discovery', 'souk discovery list --limit 5 --json'],
  asks: 'listResources',
  asked(context) {
    const { limit, page, ...filters } = context.options
    const query = { limit: String(limit), offset: String((page - 1) * limit), ...compact(filters) }
    return { query }
  },
  rows: ({ items }) => items,
  columns: resourceColumns,
  view({ items, pagination }, io) {
    printRows(io, resourceColumns, items)
    io.note(`${items.length} of ${pagination.total}`)
  },
})

export const discoveryManifest = defineCall({
  name: 'discovery manifest',
  summary: 'show the x402 manifest: payee, chain and paid endpoints',
  examples: ['souk discovery manifest', "souk discovery manifest -q '.payTo'"],
  asks: 'getManifest',
  view({ payTo, network, resources, discovery, search, openapi }, io) {
    io.line(`pays      ${payTo} on ${network}`)
    io.line(`lists     ${discovery}   ${search}`)
    io.line(`openapi   ${openapi}`)
    io.line(`sells at  ${resources.length} addresses`)
    for (const resource of resources) io.line(`  ${resource}`)
  },
})

export const discoverySearch = defineCall({
  name: 'discovery search',
  summary: 'search paid endpoints, as x402 clients do',
  args: z.object({ words: z.array(z.string()).min(1).meta({ description: 'search words' }) }),
  options: z.object({
    ...discoveryOptions,
    cursor: z.text({ description: 'next_cursor of the previous page', value: 'cursor' }),
  }),
  examples: ['souk discovery search qr code', 'souk discovery search translate --limit 3 --json'],
  asks: 'searchResources',
  asked(context) {
    const { limit, ...filters } = context.options
    const query = { query: context.args.words.join(' '), limit: String(limit), ...compact(filters) }
    return { query }
  },
  rows: ({ resources }) => resources,
  columns: resourceColumns,
  view({ resources, pagination }, io) {
    printRows(io, resourceColumns, resources)
    if (resources.length === 0) io.note('no results')
    if (pagination.cursor !== null) io.note(`  next page: ${io.hint(`… --cursor ${pagination.cursor}`)}`)
  },
})
