import { type Job, jobStateOf } from '../../nouns/jobs.ts'
import { count, padEnd, shortSpan } from '../../text/text.ts'
import { shownJob } from '../job/rows.ts'
import { tabbedHead } from '../list/screen.ts'
import { spark } from '../parts/charts.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, dim, type Line, strong } from '../parts/line.ts'
import { tabWords } from '../shell/finding.ts'
import { type ServiceTab, serviceTabs } from '../shell/ui.ts'
import { aboutLines, deliveriesLines, type ServicesShown, schemaLines } from './lines.ts'
import type { MarketListing } from './rows.ts'

/** A listing with its newest jobs, undefined until known, and the figures of the list. */
export type Sold = ServicesShown & {
  readonly sales: readonly Job[] | undefined
  readonly selling: MarketListing['selling'] | undefined
}

const drawn: Readonly<Record<ServiceTab, (shown: Sold) => readonly Line[]>> = {
  about: aboutLines,
  schema: schemaLines,
  deliveries: deliveriesLines,
  sales: salesLines,
  json: ({ service }) => jsonLines(service),
}

/** The current tab of a listing, below or beside the list. */
export function tabLines(shown: Sold, tab: ServiceTab, isBeside: boolean): Line[] {
  const head = tabbedHead(shown.service.id, tabWords(serviceTabs, tab), { width: shown.width, isBeside })
  return [...head, ...drawn[tab](shown)]
}

const BUYER_COLUMNS = 16
/** From this width each sale shows its id. */
const ID_FROM = 76

function salesLines({ selling, sales, now, width }: Sold): Line[] {
  const week: Line[] =
    selling === undefined
      ? []
      : [
          [
            dim(' 7 days    '),
            strong(`${count(selling.sold)} sold `),
            accent(spark(selling.by_day, selling.by_day.length)),
            `   ${count(selling.refunded)} refunded`,
          ],
        ]
  if (sales === undefined) return [...week, [dim(' asking…')]]
  if (sales.length === 0) return [...week, [dim(' no sales yet: a buyer buys it with souk buy')]]
  const widest = Math.max(...sales.map((job) => shownJob(job).amount.length))
  return [
    ...week,
    ...sales.map((job): Line => {
      const age = shortSpan(Math.max(0, now - Date.parse(job.created_at)))
      const { buyer, amount } = shownJob(job)
      const state = jobStateOf(job, now)
      return [
        ' ',
        typeof state === 'string' ? padEnd(state, 12) : { ...state, text: padEnd(state.text, 12) },
        ` ${padEnd(buyer, BUYER_COLUMNS).slice(0, BUYER_COLUMNS)}  `,
        strong(amount.padStart(widest)),
        dim(`  ${age.padStart(4)}${width >= ID_FROM ? `  ${job.id}` : ''}`),
      ]
    }),
  ]
}
