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
  summary: 'look a listing over as those who buy it would, and say what mends it',
  description:
    'Its schemas, an example of its input, its price, the way to its provider, the 402 as clients of both generations read it, and what a buyer will see. Nothing is bought; your own endpoint gets a test message. It ends with 11 when something fails.',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options: z.object({}),
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
