import { ownId } from '../../src/cli/account.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { diagnose, type ListingFinding } from '../../src/cli/nouns/services/diagnosis.ts'
import { findListing } from '../../src/cli/nouns/services/services.ts'
import type { Column } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { AppError } from '../../src/core/error.ts'
import { bold, cyan, green, red, yellow } from '../../src/text/text.ts'

const columns: readonly Column<ListingFinding>[] = [
  { title: 'CHECK', value: ({ check }) => check },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'FOUND', value: ({ found }) => found, flexible: true },
  { title: 'MEND', value: ({ mend }) => mend, drop: 1 },
]
const marks = { ok: green('✓'), warn: yellow('!'), fail: red('✗') }

export const command = defineCommand({
  name: 'services doctor',
  summary: 'check a listing for problems, each with the command that fixes it',
  description:
    'Checks schemas, example input, price, provider endpoint, the 402 for x402 v1 and v2 clients, and what buyers see. Buys nothing; sends a test message to your endpoint. Exits with code 11 if a check fails.',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  examples: ['souk services doctor qr_code', 'souk services doctor qr_code --json --fields healthy,findings'],
  async run(context) {
    const session = await context.session()
    const listing = await findListing(session, context.args.service)
    const caller = await ownId(session).catch((error: unknown) => {
      // Whoever has no account, or none here, looks at it as a stranger.
      if (error instanceof AppError || (error instanceof Error && error.name === 'CliError')) return undefined
      throw error
    })
    const findings = await diagnose(session, listing, listing.provider_id === caller)
    const healthy = findings.every(({ state }) => state !== 'fail')
    if (!healthy) context.exit('check_failed')
    return { service_id: listing.id, name: listing.name, healthy, findings }
  },
  rows: ({ findings }) => findings,
  columns,
  view({ service_id, name, findings }, io) {
    io.line(`${bold(name)}   ${service_id}`)
    for (const { check, state, found, mend } of findings) {
      io.line(`  ${marks[state]} ${check.padEnd(11)} ${found}`)
      if (mend !== null) io.line(`    ${cyan(io.hint(mend))}`)
    }
  },
})
