import { defineCommand } from '../../src/cli/command.ts'
import type { Io } from '../../src/cli/io.ts'
import { shownResult } from '../../src/cli/nouns/jobs/deliverable.ts'
import { exampleOf, inputLines } from '../../src/cli/nouns/services/input.ts'
import { findListing, type Listing } from '../../src/cli/nouns/services/services.ts'
import * as z from '../../src/cli/params.ts'
import { isObject } from '../../src/core/json.ts'
import { shellWord } from '../../src/text/shell.ts'
import { bold, cyan } from '../../src/text/text.ts'
import { hookOf } from './list.ts'

export const command = defineCommand({
  name: 'services view',
  summary: 'show one service',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options: z.object({
    schema: z.boolean().default(false).meta({ description: 'print the JSON Schema of its input only' }),
    example: z.boolean().default(false).meta({ description: 'print a valid input only' }),
  }),
  examples: [
    'souk services view qr_code',
    'souk services view qr_code --schema',
    'souk services view qr_code --example',
  ],
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
  io.line(`${bold(listing.name)}   ${listing.id}   ${listing.category}`)
  io.line(`  ${listing.description}`)
  io.line(`  price     ${agent_price.fixed === null ? 'on request' : paid}`)
  io.line(`  provider  ${listing.provider_name} (${listing.provider_verification_tier})   ${listing.provider_id}`)
  if (provider_trust) io.line(`  trust     ${provider_trust.verdict}   level ${provider_trust.level_name}`)
  io.line(`  delivery  ${listing.fulfillment_type}, ${listing.estimated_delivery}`)
  io.line(`  webhook   ${hookOf(listing.webhook_status).words}`)
  io.line('  input')
  for (const line of inputLines(listing.input_schema)) io.line(`    ${line}`)
  const sample = sampleOf(listing)
  if (sample !== undefined) {
    io.line('  answers like this, shortened')
    for (const line of shownResult(sample).split('\n')) io.line(`    ${line}`)
  }
  io.line(`  next      ${cyan(io.hint(buyLine(listing)))}`)
}

/** An example of the result, where its schema has one. */
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
