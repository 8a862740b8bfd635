import { api } from '../../../src/api/index.ts'
import type { termsApi } from '../../../src/api/sections/terms.ts'
import { AppError, existing, invalidField } from '../../../src/core/error.ts'
import type { FreeHandlers } from '../../endpoint/handler.ts'
import { emit } from '../../events/event-log.ts'
import type { Context } from '../../kernel/context.ts'
import { participants } from '../../kernel/rows.ts'
import { commit } from '../../store/draw.ts'

/** Version of the text below. Every change of the text needs a new version. */
export const TERMS_VERSION = '2026-01-01'

export const TERMS_TEXT = `Terms of this marketplace, version ${TERMS_VERSION}

1. Who runs it. This marketplace is run by whoever started the daemon that serves this text: the operator.
2. Listings. A provider lists only what it can deliver and may deliver, and describes it truthfully: what goes in, what comes out, when, at which price.
3. Delivery. A provider answers for what it delivers. Delivery that breaks the law, or the rights of others, is not delivery.
4. Money. Prices are in USDC. The buyer pays the price shown before the purchase; the operator keeps the platform fee shown with it. Escrow, refunds and disputes follow the documented states of a job.
5. Wallets. Whoever holds a wallet's key acts for it. Wallets under sanctions are refused.
6. Data. Inputs, messages and deliverables are shown to the two parties of a job and to the operator. Names, listings and reputation are public.
7. Leaving. A listing may be removed at any time; jobs under way are finished or refunded first.
8. No warranty. The software comes as it is.
`

export function termsUrl(ctx: Pick<Context, 'baseUrl'>): string {
  return `${ctx.baseUrl()}${api.getTerms.path}`
}

/** Refuses a caller who has not accepted the current terms, if required. @throws AppError `terms_required` */
export function refuseUnaccepted(ctx: Context, accepted: string | null | undefined): void {
  if (!ctx.switches.now().termsRequired || accepted === TERMS_VERSION) return
  throw new AppError('terms_required', `Accept version ${TERMS_VERSION} of the terms first: POST /v1/terms/accept.`, {
    extra: { terms_version: TERMS_VERSION, terms_url: termsUrl(ctx) },
  })
}

/** @throws AppError 400 when a version other than the current one is named */
export function refuseOtherVersion(field: string, version: string | undefined): void {
  if (version === undefined || version === TERMS_VERSION) return
  throw invalidField(field, `is not the current version of the terms, which is ${TERMS_VERSION}`)
}

export const termsRoutes: FreeHandlers<typeof termsApi> = {
  getTerms: async (_input, { ctx }) => ({
    version: TERMS_VERSION,
    required: ctx.switches.now().termsRequired,
    url: termsUrl(ctx),
    text: TERMS_TEXT,
  }),

  acceptTerms: async ({ body }, { ctx, caller, now }) => {
    refuseOtherVersion('version', body.version)
    return commit(ctx, async (t, draw) => {
      const row = existing(await t.table(participants).getForUpdate(caller.id), 'The participant')
      const { id } = row
      // Repeating an acceptance keeps the time of the first one.
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
  },
}
