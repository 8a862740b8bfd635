import type { WireAnswer } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import type { Io } from '../../src/cli/io.ts'
import * as z from '../../src/cli/params.ts'
import { bold, green, red } from '../../src/text/text.ts'

type Health = WireAnswer<Api['getHealth']>

export const command = defineCommand({
  name: 'compliance show',
  summary: 'show the sanctions list and refused requests',
  isDefault: true,
  options: z.object({
    exitStatus: z
      .boolean()
      .default(false)
      .meta({ description: 'exit with code 11 if the list is stale or was rejected' }),
  }),
  examples: ['souk compliance', 'souk compliance show --exit-status --json'],
  async run(context) {
    const { compliance, launch } = await (await context.session()).call('getHealth', {})
    const { sdn } = compliance
    if (context.options.exitStatus && (sdn.stale || sdn.last_status !== 'ok')) context.exit('check_failed')
    return { sdn, gate_refusals_24h: launch.gate_refusals_24h, shelved_410_24h: launch.shelved_410_24h }
  },
  view({ sdn, gate_refusals_24h: refusals, shelved_410_24h: shelved }, io) {
    viewList(io, sdn)
    io.line(bold('Refused in the last 24 hours'))
    const counts = Object.entries(refusals)
    for (const [reason, count] of counts) io.line(`  ${reason}   ${count}`)
    for (const [area, callers] of Object.entries(shelved)) {
      const sum = Object.values(callers).reduce((total, count) => total + count, 0)
      if (sum > 0) io.line(`  410 ${area}   ${sum}`)
    }
    if (counts.length === 0) io.note('  nothing')
  },
})

function viewList(io: Io, sdn: Health['compliance']['sdn']): void {
  const isGood = !sdn.stale && sdn.last_status === 'ok'
  io.line(`${isGood ? green('✓') : red('✗')} ${bold(sdn.source)}   ${sdn.last_status}${sdn.stale ? '   stale' : ''}`)
  io.line(`  published     ${sdn.ofac_publish_date ?? '—'}`)
  io.line(`  last checked  ${sdn.last_checked ?? 'never'}`)
  io.line(`  last changed  ${sdn.last_updated ?? 'never'}   ${sdn.added} new`)
  io.line(`  wallets       ${sdn.total}: ${sdn.ofac_evm_count} on the list, ${sdn.manual_only} only added by hand`)
}
