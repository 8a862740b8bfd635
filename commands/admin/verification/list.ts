import type { WireAnswer } from '../../../src/api/endpoint/define.ts'
import { verificationFields } from '../../../src/api/endpoint/list-fields.ts'
import type { Api } from '../../../src/api/index.ts'
import { defineCommand } from '../../../src/cli/command.ts'
import { listNote, searchOptions } from '../../../src/cli/nouns/searching.ts'
import { type Column, printRows } from '../../../src/cli/output.ts'
import * as z from '../../../src/cli/params.ts'
import { compact } from '../../../src/core/record.ts'
import { attemptStatuses } from '../../../src/model/verification.ts'
import { cyan } from '../../../src/text/text.ts'

const PAGE_ROWS_MAX = 100

type Attempt = WireAnswer<Api['listVerifications']>['attempts'][number]

const columns: readonly Column<Attempt>[] = [
  { title: 'ATTEMPT', value: ({ attempt_id: id }) => id },
  { title: 'WHO', value: ({ participant_id: id }) => id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'SINCE', value: ({ created_at: at }) => at, drop: 1 },
]

export const command = defineCommand({
  name: 'admin verification list',
  isDefault: true,
  summary: 'list identity verification attempts, newest first',
  description:
    'Needs the admin key of the instance. In the sandbox, decide them with `souk verify approve` or `reject`.',
  args: z.object({}),
  options: z.object({
    status: z.enum(attemptStatuses).optional().meta({ description: 'only in this state', value: 'state' }),
    ...searchOptions(verificationFields),
    limit: z.int().min(1).max(PAGE_ROWS_MAX).default(20).meta({ description: 'rows per page' }),
    page: z.int().min(1).default(1).meta({ description: 'page number' }),
  }),
  examples: [
    'souk admin verification',
    'souk admin verification list --json',
    'souk admin verification list --sort -age',
  ],
  async run(context) {
    const { limit, page, status, filter, sort } = context.options
    const query = { limit: String(limit), offset: String((page - 1) * limit), ...compact({ status, filter, sort }) }
    return (await context.session()).call('listVerifications', { query })
  },
  rows: ({ attempts }) => attempts,
  columns,
  view(page, io) {
    const { attempts } = page
    printRows(io, columns, attempts)
    io.note(listNote(page, attempts.length, 'no such attempt'))
    const open = attempts.find(({ status }) => status === 'vendor_pending')
    if (open) io.note(`  next: ${cyan(io.hint(`souk verify approve ${open.attempt_id} --reason "..."`))}`)
  },
})
