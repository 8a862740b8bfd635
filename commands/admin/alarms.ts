import type { WireAnswer } from '../../src/api/index.ts'
import { andJson, defineCall, defineCommand } from '../../src/cli/command.ts'
import { type Column, printRows } from '../../src/cli/output.ts'
import { cyan, green, red } from '../../src/text/text.ts'

type Target = WireAnswer<'getAlarms'>['targets'][number]

const NO_TARGETS = 'no targets: alarms are sent nowhere'

const columns: readonly Column<Target>[] = [
  { title: 'TARGET', value: ({ target }) => target },
  { title: 'OPEN', value: ({ open }) => String(open), align: 'right' },
  { title: 'LAST SENT', value: ({ sent_at: at }) => at },
  { title: 'FAILS SINCE', value: ({ failing_since: since }) => since },
  { title: 'ERROR', value: ({ error }) => error, flexible: true },
]

export const adminAlarmsList = defineCall({
  name: 'admin alarms list',
  summary: 'list the targets of alarms and whether they receive them',
  description:
    'Targets are set by `souk up --notify`. Each is told once of every problem of `souk attention`, and once when it is over.',
  isDefault: true,
  asks: 'getAlarms',
  examples: andJson('souk admin alarms list'),
  rows: ({ targets }) => targets,
  columns,
  view({ targets, quiet_hours: quiet, hot_ceiling: ceiling, webhook_secret: secret }, io) {
    if (targets.length === 0) io.line(NO_TARGETS)
    else printRows(io, columns, targets)
    if (quiet !== null) io.line(`  quiet     ${quiet}`)
    if (ceiling !== null) io.line(`  ceiling   $${ceiling} in the pay-to wallet`)
    if (secret !== null) io.line(`  secret    ${secret}   signs alarms to webhooks`)
    const next = targets.length === 0 ? 'souk restart --notify exec:/usr/local/bin/alarm' : 'souk admin alarms test'
    io.note(`  next      ${cyan(io.hint(next))}`)
  },
})

export const adminAlarmsTest = defineCommand({
  name: 'admin alarms test',
  summary: 'send a test alarm to every target',
  description: 'Exits with code 11 if a target does not accept it.',
  prints: 'testAlarms',
  examples: andJson('souk admin alarms test'),
  async run(context) {
    const tested = await (await context.session()).call('testAlarms', {})
    if (tested.results.some(({ ok }) => !ok)) context.exit('check_failed')
    return tested
  },
  rows: ({ results }) => results,
  columns: [
    { title: 'TARGET', value: ({ target }) => target },
    { title: 'OK', value: ({ ok }) => String(ok) },
    { title: 'WHAT', value: ({ detail }) => detail, flexible: true },
  ],
  view({ results }, io) {
    if (results.length === 0) io.line(NO_TARGETS)
    for (const { target, ok, detail } of results) io.line(`${ok ? green('✓') : red('✗')} ${target}   ${detail}`)
  },
})
