import { api } from '../../../src/api/index.ts'
import { AppError, invalidField } from '../../../src/core/error.ts'
import type { Context } from '../../kernel/context.ts'

/** Version of the text below; a change of the text is a new version. */
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

/** Registration is acceptance enough unless acceptance by name is required. @throws AppError terms_required */
export function refuseUnaccepted(ctx: Context, accepted: string | null | undefined): void {
  if (!ctx.switches.now().termsRequired || accepted === TERMS_VERSION) return
  throw new AppError('terms_required', `Accept version ${TERMS_VERSION} of the terms first: POST /v1/terms/accept.`, {
    extra: { terms_version: TERMS_VERSION, terms_url: termsUrl(ctx) },
  })
}

/** @throws AppError 400 that names the field when a version was named that is not the current one. */
export function refuseOtherVersion(field: string, version: string | undefined): void {
  if (version === undefined || version === TERMS_VERSION) return
  throw invalidField(field, `is not the current version of the terms, which is ${TERMS_VERSION}`)
}
