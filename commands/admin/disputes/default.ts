import { MAX_DEFAULT_DAYS } from '../../../src/api/sections/admin-platform.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { usage } from '../../../src/cli/exit.ts'
import { makeSure } from '../../../src/cli/nouns/pause.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { endings, rulings } from '../../../src/model/job.ts'
import { bold, dim, green, yellow } from '../../../src/text/text.ts'

const SHOW = 'show'
const OFF = 'off'

export const command = defineCommand({
  name: 'admin disputes default',
  summary: 'show or set the default outcome of undecided disputes',
  description:
    'Off by default, because an outcome that pays one side invites disputes. Open disputes keep the setting they were opened with. Needs the admin key of the instance.',
  args: z.object({
    outcome: z
      .enum([SHOW, OFF, ...rulings])
      .default(SHOW)
      .meta({ description: `outcome; split: half to each side; ${OFF}: wait for a ruling` }),
  }),
  options: z.object({
    days: z
      .between(1, MAX_DEFAULT_DAYS)
      .optional()
      .meta({ description: 'days without a ruling before the outcome applies', value: 'n' }),
    reason: z.text({ description: 'reason, saved in the log', value: 'text' }),
  }),
  examples: [
    'souk admin disputes default',
    'souk admin disputes default release --days 7',
    'souk admin disputes default off --json',
  ],
  async run(context) {
    const { outcome } = context.args
    const { days, reason } = context.options
    const isRuling = outcome !== SHOW && outcome !== OFF
    if (isRuling && days === undefined) throw usage(`After how many days? Add --days, such as ${outcome} --days 7.`)
    if (!isRuling && days !== undefined) throw usage(`--days needs ${rulings.join(', ')}; you gave "${outcome}".`)
    const session = await context.session()
    const remote = session.target.name
    if (outcome === SHOW) {
      const { disputes_default } = await session.call('getFeatures', {})
      return { remote, disputes_default, changed: false }
    }
    await makeSure(context, session, { says: 'changes the default outcome of disputes at' })
    const body = { disputes_default: isRuling && days !== undefined ? { outcome, days } : null, ...compact({ reason }) }
    const set = await session.call('setFeatures', { body })
    return { remote, disputes_default: set.disputes_default, changed: set.changed }
  },
  view({ remote, disputes_default: set, changed }, io) {
    const sign = changed ? green('✓') : dim('·')
    if (set === null) io.line(`${sign} disputes at ${bold(remote)} wait for the operator, without a time limit`)
    else {
      io.line(`${sign} undecided disputes at ${bold(remote)} end after ${set.days} d: ${endings[set.outcome]}`)
      io.line(`  ${yellow('!')} applies to disputes opened from now on`)
    }
  },
})
