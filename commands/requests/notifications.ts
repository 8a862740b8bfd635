import type { Request } from '../../src/api/endpoint/define.ts'
import type { Api } from '../../src/api/index.ts'
import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { compact } from '../../src/core/record.ts'
import { dollars } from '../../src/nouns/postings.ts'
import { green } from '../../src/text/text.ts'

export const command = defineCommand({
  name: 'requests notifications',
  summary: 'show or change notifications about new requests',
  description: 'Without options, shows the current setting. --on or a filter opts in; --off opts out.',
  aliases: ['postings notifications'],
  options: z.object({
    on: z.boolean().default(false).meta({ description: 'turn notifications on' }),
    off: z.boolean().default(false).meta({ description: 'turn notifications off' }),
    minBudget: z.number().optional().meta({ description: 'lowest budget', value: 'usd' }),
    maxBudget: z.number().optional().meta({ description: 'highest budget', value: 'usd' }),
    category: z.array(z.string()).default([]).meta({ description: 'only of this category', value: 'name' }),
    all: z.boolean().default(false).meta({ description: 'remove all filters' }),
  }),
  examples: [
    'souk requests notifications',
    'souk requests notifications --on --all --json',
    'souk requests notifications --max-budget 25 --category design',
    'souk requests notifications --off',
  ],
  prints: 'getPostingNotifications',
  async run(context) {
    const { on, off, all, minBudget, maxBudget, category } = context.options
    const change: Request<Api['setPostingNotifications']>['body'] = {
      ...(all ? { min_budget_usd: null, max_budget_usd: null, categories: [] } : {}),
      ...compact({ min_budget_usd: minBudget, max_budget_usd: maxBudget }),
      ...(category.length === 0 ? {} : { categories: category }),
    }
    const isChange = on || Object.keys(change).length > 0
    if (off && isChange) throw usage('--off opts out: it goes with no other flag.')
    const session = await context.session()
    if (off) return session.call('endPostingNotifications', {})
    if (isChange) return session.call('setPostingNotifications', { body: change })
    return session.call('getPostingNotifications', {})
  },
  view({ enabled, min_budget_usd: min, max_budget_usd: max, categories, consecutive_failures: failures }, io) {
    io.line(enabled ? `${green('✓')} you hear of new requests` : 'you do not hear of new requests')
    if (min !== null || max !== null) {
      io.line(
        `  budget    ${min === null ? '' : `from ${dollars(min)} `}${max === null ? '' : `up to ${dollars(max)}`}`,
      )
    }
    if (categories.length > 0) io.line(`  category  ${categories.join(', ')}`)
    if (failures > 0) io.line(`  failed    ${failures} in a row; 20 switch it off`)
  },
})
