import type { termsApi } from '../../../src/api/sections/terms.ts'
import { notFound } from '../../../src/core/error.ts'
import type { FreeHandler, FreeHandlers } from '../../endpoint/handler.ts'
import { emit } from '../../events/event-log.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'
import { refuseOtherVersion, TERMS_TEXT, TERMS_VERSION, termsUrl } from './terms.ts'

const getTerms: FreeHandler<typeof termsApi.getTerms> = async (_input, { ctx }) => ({
  version: TERMS_VERSION,
  required: ctx.switches.now().termsRequired,
  url: termsUrl(ctx),
  text: TERMS_TEXT,
})

const acceptTerms: FreeHandler<typeof termsApi.acceptTerms> = async ({ body }, { ctx, caller, now }) => {
  refuseOtherVersion('version', body.version)
  return commit(ctx, async (t, draw) => {
    const row = await t.table(participants).getForUpdate(caller.id)
    if (!row) throw notFound('The participant')
    const { id } = row
    // A second acceptance of the same version keeps the time of the first.
    if (row.terms_version === body.version && row.terms_accepted_at !== null) {
      return { participant_id: id, version: body.version, accepted_at: row.terms_accepted_at }
    }
    await t.table(participants).put({ ...row, terms_version: body.version, terms_accepted_at: now, updated_at: now })
    const subject = { kind: 'participant', id }
    await emit(t, draw, {
      type: 'terms.accepted',
      participantId: id,
      subject,
      data: { version: body.version },
      at: now,
    })
    return { participant_id: id, version: body.version, accepted_at: now }
  })
}

export const termsRoutes: FreeHandlers<typeof termsApi> = { getTerms, acceptTerms }
