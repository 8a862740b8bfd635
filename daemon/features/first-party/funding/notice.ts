import { z } from 'zod'
import { AppError } from '../../../../src/core/error.ts'
import { DAY_MS } from '../../../../src/core/time.ts'
import { UpstreamError } from '../../../ports/upstream/upstream.ts'
import type { ServiceCtx } from '../service/service.ts'
import { defineStep } from '../service/step.ts'
import { fromUpstream } from '../service/upstream.ts'
import { parseHtml, visibleBlocks } from '../web/document.ts'

/** A funding notice in the form that the rules read. */
export type Notice = {
  readonly id: string
  readonly number: string
  readonly title: string
  readonly agency: string
  readonly status: 'posted' | 'forecasted' | 'closed'
  /** UTC days. */
  readonly opens_at: string | null
  readonly closes_at: string | null
  /** Whether the notice is a forecast: its closing day is an estimate, and it accepts no applications yet. */
  readonly is_estimate: boolean
  readonly award_floor: number | null
  readonly award_ceiling: number | null
  readonly cost_sharing: boolean | null
  readonly applicant_types: readonly { readonly id: string; readonly description: string }[]
  readonly eligibility_text: string
  readonly description: string
  readonly categories: readonly string[]
  readonly attachments: readonly string[]
  readonly url: string
  /** The notice's own words about each of these members, to be quoted. */
  readonly told: { readonly [member in 'closes_at' | 'award_floor' | 'award_ceiling' | 'cost_sharing']: string | null }
}

const MAX_TEXT = 60_000
const Text = z.string().max(MAX_TEXT)
const Labelled = z.object({ id: z.union([z.string(), z.number()]).optional(), description: Text.optional() })
const Amount = z.union([z.string().max(40), z.number()]).nullish()
const Agency = z.object({ agencyName: Text.nullish() }).nullish()
const Synopsis = z.object({
  agencyName: Text.nullish(),
  synopsisDesc: Text.nullish(),
  forecastDesc: Text.nullish(),
  responseDate: Text.nullish(),
  responseDateStr: Text.nullish(),
  estApplicationResponseDate: Text.nullish(),
  estApplicationResponseDateStr: Text.nullish(),
  postingDate: Text.nullish(),
  postingDateStr: Text.nullish(),
  costSharing: z.union([z.boolean(), z.string()]).nullish(),
  awardCeiling: Amount,
  awardFloor: Amount,
  applicantTypes: z.array(Labelled).max(100).nullish(),
  applicantEligibilityDesc: Text.nullish(),
  fundingActivityCategories: z.array(Labelled).max(100).nullish(),
})
const File = z.object({ fileName: Text.nullish() })
const Folder = z.object({ synopsisAttachments: z.array(File).max(200).nullish() })
const Data = z.object({
  opportunityNumber: Text.nullish(),
  opportunityTitle: Text.nullish(),
  agencyDetails: Agency,
  topAgencyDetails: Agency,
  synopsis: Synopsis.nullish(),
  forecast: Synopsis.nullish(),
  synopsisAttachmentFolders: z.array(Folder).max(100).nullish(),
})
type Data = z.output<typeof Data>
const Detail = z.object({ errorcode: z.number(), data: Data.nullish() })

const KEEP_MS = 60 * 60_000
const DAY = /^(\d{4})-(\d{2})-(\d{2})/
const AMERICAN_DAY = /^(\d{2})\/(\d{2})\/(\d{4})$/

/** Undefined if there is no such notice. @throws AppError provider_failed */
export async function noticeOf(
  { engines, signal, now, elsewhere }: ServiceCtx<'grants'>,
  id: string,
): Promise<Notice | undefined> {
  const asked = engines.grants.ask({
    path: '/fetchOpportunity',
    body: { opportunityId: Number(id) },
    schema: Detail,
    keepMs: KEEP_MS,
    signal,
  })
  const { data } = (await fromUpstream(asked)).value
  return data && (data.opportunityTitle ?? data.opportunityNumber) ? elsewhere(noticeIn, id, data, now()) : undefined
}

/** @throws AppError `provider_failed` for an unknown notice, so that the job is refunded */
export async function knownNotice(ctx: ServiceCtx<'grants'>, id: string): Promise<Notice> {
  const notice = await noticeOf(ctx, id)
  if (!notice) throw new AppError('provider_failed', `There is no funding notice ${id}.`)
  return notice
}

/** Undefined if the notice is unknown or cannot be fetched. */
export async function noticeIfAny(ctx: ServiceCtx<'grants'>, id: string): Promise<Notice | undefined> {
  try {
    return await noticeOf(ctx, id)
  } catch (error) {
    if (ctx.signal.aborted || !(error instanceof AppError || error instanceof UpstreamError)) throw error
    return undefined
  }
}

/** Texts are HTML. */
const noticeIn = defineStep('notice', (id: string, data: Data, now: number): Notice => {
  const synopsis = data.synopsis ?? data.forecast ?? {}
  const isForecast = !data.synopsis
  const expected = synopsis.estApplicationResponseDateStr ?? synopsis.estApplicationResponseDate
  const closing = synopsis.responseDateStr ?? synopsis.responseDate ?? (isForecast ? expected : null)
  const closes = dayOf(closing)
  const said = (value: unknown) => (value === null || value === undefined ? null : String(value))
  return {
    id,
    number: data.opportunityNumber ?? '',
    title: plain(data.opportunityTitle),
    agency: agencyOf(data) || plain(synopsis.agencyName),
    status: statusOf(isForecast, closes, now),
    opens_at: dayOf(synopsis.postingDateStr ?? synopsis.postingDate),
    closes_at: closes,
    is_estimate: isForecast,
    award_floor: amountOf(synopsis.awardFloor),
    award_ceiling: amountOf(synopsis.awardCeiling),
    cost_sharing: flagOf(synopsis.costSharing),
    applicant_types: labelsOf(synopsis.applicantTypes),
    eligibility_text: plain(synopsis.applicantEligibilityDesc),
    description: plain(synopsis.synopsisDesc ?? synopsis.forecastDesc),
    categories: labelsOf(synopsis.fundingActivityCategories).map(({ description }) => description),
    attachments: attachmentsOf(data),
    url: `https://www.grants.gov/search-results-detail/${id}`,
    told: {
      closes_at: said(closing),
      award_floor: said(synopsis.awardFloor),
      award_ceiling: said(synopsis.awardCeiling),
      cost_sharing: said(synopsis.costSharing),
    },
  }
})

function labelsOf(list: z.output<typeof Synopsis>['applicantTypes']): { id: string; description: string }[] {
  return (list ?? []).map((one) => ({ id: String(one.id ?? '').padStart(2, '0'), description: plain(one.description) }))
}

/** The department and its office, since the agency name in the synopsis is often a contact person. */
function agencyOf({ topAgencyDetails, agencyDetails }: Data): string {
  const [top, own] = [plain(topAgencyDetails?.agencyName), plain(agencyDetails?.agencyName)]
  return top.includes(own) ? top : [top, own].filter(Boolean).join(', ')
}

function attachmentsOf({ synopsisAttachmentFolders }: Data): string[] {
  return (synopsisAttachmentFolders ?? []).flatMap((folder) =>
    (folder.synopsisAttachments ?? []).flatMap(({ fileName }) => fileName ?? []),
  )
}

function statusOf(isForecast: boolean, closes: string | null, now: number): Notice['status'] {
  // A forecast is never open, so a passed date does not close it.
  if (isForecast) return 'forecasted'
  return closes !== null && daysUntil(closes, now) < 0 ? 'closed' : 'posted'
}

/** `YYYY-MM-DD…` or `MM/DD/YYYY`. */
export function dayOf(text: string | null | undefined): string | null {
  const iso = DAY.exec(text ?? '')
  if (iso) return iso[0]
  const american = AMERICAN_DAY.exec(text ?? '')
  if (american) return `${american[3]}-${american[1]}-${american[2]}`
  const at = Date.parse(text ?? '')
  return Number.isNaN(at) ? null : new Date(at).toISOString().slice(0, 10)
}

/** Whole UTC days from today until `day`; negative for a past day. */
export function daysUntil(day: string, now: number): number {
  return Math.round((Date.parse(day) - Math.floor(now / DAY_MS) * DAY_MS) / DAY_MS)
}

function amountOf(value: string | number | null | undefined): number | null {
  const number = Number(
    String(value ?? '')
      .replace(/[$,]/g, '')
      .trim() || 'none',
  )
  return Number.isFinite(number) && number > 0 ? number : null
}

function flagOf(value: boolean | string | null | undefined): boolean | null {
  if (typeof value === 'boolean') return value
  if (value === null || value === undefined) return null
  return /^(y|yes|true)$/i.test(value.trim())
}

/** Plain text of a field. The fields are HTML, which is partly escaped twice. */
function plain(text: string | null | undefined): string {
  const once = blocksIn(text ?? '')
  return /<\/?[a-z][^>]*>/i.test(once) ? blocksIn(once) : once
}

/** Blocks by line; a line that goes on in the next one is joined with it. */
function blocksIn(html: string): string {
  return visibleBlocks(parseHtml(html))
    .join('\n')
    .replace(/(?<![.!?:;])\n(?=[a-z(])/g, ' ')
}
