import { defineCommand, watchOptions } from '../src/cli/command.ts'
import type { Io } from '../src/cli/io.ts'
import { type HealthAnswer, type HealthCron, readHealth } from '../src/cli/nouns/health.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { SECOND_MS } from '../src/core/time.ts'
import { type CronCondition, stateOfRuns } from '../src/model/state-words.ts'
import { bold, green, red, span, yellow } from '../src/text/text.ts'

const sections = ['crons', 'launch', 'compliance', 'platform', 'referral_program'] as const

type Section = Partial<Pick<HealthAnswer, (typeof sections)[number]>>

export const command = defineCommand({
  name: 'health',
  heading: 'Health and interface',
  summary: 'show the health report',
  options: z.object({
    section: z.choice(sections, { description: 'only this part' }),
    exitStatus: z.flag({ description: 'exit with code 11 if paused, or if a cron is late or failing' }),
    ...watchOptions,
  }),
  examples: ['souk health', 'souk health --section crons', "souk health --json -q '.crons | keys'"],
  async run(context): Promise<HealthAnswer | Section> {
    const health = await readHealth(await context.session())
    const troubled = Object.values(health.crons).some((cron) => ['failing', 'stale'].includes(stateOfRuns(cron)))
    if (context.options.exitStatus && (health.paused || troubled)) context.exit('check_failed')
    const { section } = context.options
    return section === undefined ? health : { [section]: health[section] }
  },
  view(data, io) {
    const health = data as Partial<HealthAnswer>
    if (health.status !== undefined) showHead(health, io)
    if (health.crons) printRows(io, cronColumns(businessNow(health.crons) ?? io.now()), Object.entries(health.crons))
    if (health.status !== undefined) return
    for (const [name, value] of Object.entries(data)) if (name !== 'crons') io.line(JSON.stringify(value, null, 2))
  },
})

function showHead(health: Partial<HealthAnswer>, io: Io): void {
  const state = health.paused ? yellow('‖ paused') : green('● live')
  io.line(
    `${state}   ${bold(typeof health.service === 'string' ? health.service : 'souk')}   network ${health.network}`,
  )
  io.line(`  checkout_v2 ${health.checkout_v2 ? 'on' : 'off'}   endpoints ${health.endpoints?.length ?? 0}`)
  io.line()
}

const signs: Readonly<Record<CronCondition, string>> = {
  ok: green('✓ ok'),
  stale: yellow('! stale'),
  failing: red('✗ failing'),
  skipped: '– skipped',
  waiting: '– not run yet',
}

/** The daemon's business time, which may differ from this machine's time; undefined if no cron has run. */
function businessNow(crons: Readonly<Record<string, HealthCron>>): number | undefined {
  const times = Object.values(crons).flatMap(({ last_success, age_seconds }) =>
    last_success === null || age_seconds === null ? [] : [Date.parse(last_success) + age_seconds * SECOND_MS],
  )
  return times.length === 0 ? undefined : Math.max(...times)
}

function cronColumns(now: number): readonly Column<[string, HealthCron]>[] {
  const ago = (time: string | null | undefined) => (time ? `${span(now - Date.parse(time))} ago` : null)
  return [
    { title: 'CRON', value: ([name]) => name },
    { title: 'LAST OK', value: ([, cron]) => ago(cron.last_success) },
    { title: 'LAST FAIL', value: ([, cron]) => ago(cron.last_failure), drop: 1 },
    { title: 'AGE', value: ([, cron]) => cron.age_seconds, align: 'right', drop: 2 },
    {
      title: 'STATE',
      value: ([, cron]) => signs[stateOfRuns(cron)] + (cron.skip_reason ? ` (${cron.skip_reason})` : ''),
    },
  ]
}
