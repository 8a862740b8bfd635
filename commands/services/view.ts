import { defineCommand } from '../../src/cli/command.ts'
import type { Io } from '../../src/cli/io.ts'
import { shownResult } from '../../src/cli/nouns/jobs/deliverable.ts'
import { exampleOf, inputLines } from '../../src/cli/nouns/services/input.ts'
import { findListing, type Listing } from '../../src/cli/nouns/services/services.ts'
import * as z from '../../src/cli/params.ts'
import { isObject } from '../../src/core/json.ts'
import { hookOf } from '../../src/nouns/services.ts'
import { bold, clip, cyan, shellWord, widthOf, wrap } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'services view',
  summary: 'show one service',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options: z.object({
    schema: z.flag({ description: 'print only the JSON Schema of the input' }),
    example: z.flag({ description: 'print only a valid example input' }),
  }),
  examples: [
    'souk services view qr_code',
    'souk services view qr_code --schema',
    'souk services view qr_code --example',
  ],
  /** Returns the listing, its input schema (with `--schema`), or an example input (with `--example`). */
  async run({ args, options, session }) {
    const listing = await findListing(await session(), args.service)
    if (options.schema) return listing.input_schema
    if (options.example) return exampleOf(listing.input_schema)
    return listing
  },
  view(data, io) {
    if (isListing(data)) showListing(data, io)
    else io.json(data)
  },
})

function isListing(data: Listing | Readonly<Record<string, unknown>>): data is Listing {
  return 'input_schema' in data && 'agent_price' in data
}

function showListing(listing: Listing, io: Io): void {
  const { price, agent_price, provider_net_price, provider_trust } = listing
  const paid = `${agent_price.fixed} you pay   (price ${price.fixed}, provider gets ${provider_net_price.fixed})`
  const { provider_name, provider_id, provider_verification_tier: tier } = listing
  const fact = (name: string, value: string) => folded(io, `  ${name.padEnd(FACT_COLUMNS)}${value}`)
  folded(io, `${bold(listing.name)}   ${listing.id}   ${listing.category}`)
  folded(io, `  ${listing.description}`)
  fact('price', agent_price.fixed === null ? 'on request' : paid)
  fact('provider', `${provider_name} (${tier})   ${provider_id}`)
  if (provider_trust) fact('trust', `${provider_trust.verdict}   level ${provider_trust.level_name}`)
  fact('delivery', `${listing.fulfillment_type}, ${listing.estimated_delivery}`)
  fact('webhook', hookOf(listing.webhook_status).words)
  io.line('  input')
  for (const line of inputLines(listing.input_schema)) folded(io, `    ${line}`)
  const sample = sampleOf(listing)
  if (sample !== undefined) {
    io.line('  example result, shortened')
    for (const line of shownResult(sample).split('\n')) io.line(clip(`    ${line}`, io.width))
  }
  // Stays on one line, so that it can be pasted.
  io.line(`  next      ${cyan(io.hint(buyLine(listing)))}`)
}

const FACT_COLUMNS = 10
const MORE_INDENT = 6
/** Text is not wrapped into a column narrower than this. */
const MIN_FOLDED = 20

/** Prints a line of text; on a terminal, wraps it with an indent if it is too long. */
function folded(io: Io, text: string): void {
  const [indent = ''] = /^ */.exec(text) ?? []
  const room = io.width - indent.length - MORE_INDENT
  const fits = widthOf(text) <= io.width || room < MIN_FOLDED
  const [first = '', ...more] = fits ? [text.trimStart()] : wrap(text.trimStart(), room)
  io.line(indent + first)
  for (const line of more) io.line(indent + ' '.repeat(MORE_INDENT) + line)
}

/** First example in the result's schema, or else in a member of that schema; undefined without one. */
function sampleOf({ deliverable_schema: schema }: Listing): unknown {
  const named = Object.values(schema).find((inner) => isObject(inner) && Array.isArray(inner['examples']))
  const own = Array.isArray(schema['examples']) ? schema : named
  return isObject(own) && Array.isArray(own['examples']) ? own['examples'][0] : undefined
}

function buyLine({ id, input_schema }: Listing): string {
  const words = Object.entries(exampleOf(input_schema)).map(
    ([name, value]) => ` -i ${name}=${shellWord(typeof value === 'string' ? value : JSON.stringify(value))}`,
  )
  return `souk buy ${id}${words.join('')} --quote`
}
