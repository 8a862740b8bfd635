import { verificationFields } from '../../../src/api/endpoint/list-fields.ts'
import { listCommand } from '../../../src/cli/nouns/lists.ts'
import { searchOptions } from '../../../src/cli/nouns/search-options.ts'
import * as z from '../../../src/cli/params.ts'
import { attemptStatuses } from '../../../src/model/words.ts'
import { rowsOf } from '../../../src/nouns/noun.ts'
import { type VerificationAttempt, verification } from '../../../src/nouns/verifications.ts'
import { cyan } from '../../../src/text/text.ts'

export const command = listCommand(verification, {
  name: 'admin verification list',
  search: searchOptions(verificationFields),
  isDefault: true,
  summary: 'list identity verification attempts, newest first',
  description:
    'Needs the admin key of the instance. In the sandbox, decide them with `souk verify approve` or `reject`.',
  options: {
    status: z.enum(attemptStatuses).optional().meta({ description: 'only in this state', value: 'state' }),
  },
  examples: [
    'souk admin verification',
    'souk admin verification list --json',
    'souk admin verification list --sort -age',
  ],
  note(page, io) {
    const open = rowsOf<VerificationAttempt>(page).flatMap((one) => verification.nextOf?.(one) ?? [])[0]
    if (open !== undefined) io.note(`  next: ${cyan(io.hint(open))}`)
  },
})
