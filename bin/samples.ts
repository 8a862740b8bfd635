import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { engineBoard } from '../daemon/engines/engines.ts'
import { firstParty } from '../daemon/engines/first-party.ts'
import { firstPartyServices } from '../daemon/features/first-party/index.ts'
import { openFunctionWorld } from '../fixtures/market/function-world.ts'
import { openMarketplace } from '../fixtures/market/marketplace.ts'
import { isObject, type Json } from '../src/core/json.ts'
import type { JsonObject } from '../src/model/service.ts'
import { exampleInput } from '../src/schema/example.ts'

/**
 * Writes into each listing of the house what its function really answered to the example of its input, shortened:
 * `node bin/samples.ts [function …]`. What cannot run on this machine keeps the one it has.
 */
const MAX_TEXT_CHARS = 160
const MAX_ITEMS = 2
const MAX_MEMBERS = 40

const wanted = process.argv.slice(2)
const world = await openFunctionWorld()
const market = await openMarketplace({}, world.ports)
const { ctx } = market.daemon
const board = engineBoard.of(ctx)
await board.ready
for (const { slug, needs } of firstPartyServices.values()) {
  if (wanted.length > 0 && !wanted.includes(slug)) continue
  const lacking = board.lacking(needs)
  if (lacking.length > 0) console.log(`${slug}: kept, without ${lacking.join(', ')}`)
  else await write(slug)
}
await market.close()
await world.close()

async function write(slug: string): Promise<void> {
  const file = fileURLToPath(new URL(`../fixtures/listings/${slug}.json`, import.meta.url))
  const listing = JSON.parse(readFileSync(file, 'utf8'))
  const input = exampleInput(listing.input_schema) as JsonObject // an object of JSON values
  const result = await firstParty.of(ctx)(slug)?.run(input, new AbortController().signal, { who: slug, id: slug })
  const short = shortened(result ?? null)
  const { deliverable_schema: schema } = listing
  const isKeyed = schema.type === undefined && isObject(schema[slug])
  const holder = isKeyed ? schema[slug] : schema
  holder.examples = [isKeyed && isObject(short) ? short[slug] : short]
  // From one line, so that what fits on a line stays on one.
  const format = ['biome', 'format', '--stdin-file-path=listing.json']
  writeFileSync(file, execFileSync('npx', format, { input: JSON.stringify(listing) }))
  console.log(`${slug}: ${JSON.stringify(holder.examples[0]).length} characters`)
}

/** The shape stays; long texts and lists are cut, and the site of the test is called as everybody calls one. */
function shortened(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(shortened)
  if (isObject(value)) {
    const members = Object.entries(value).slice(0, MAX_MEMBERS)
    return Object.fromEntries(members.map(([name, inner]) => [name, shortened(inner as Json)])) // JSON inside
  }
  if (typeof value !== 'string') return value
  const text = value
    .replace(/https?:\/\/site\.test(:\d+)?/g, 'https://example.com')
    .replaceAll('site.test', 'example.com')
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS)}…`.toWellFormed()
}
