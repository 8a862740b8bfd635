import { type Job, jobStateOf } from '../../nouns/jobs.ts'
import { count, padEnd, shortSpan } from '../../text/text.ts'
import { shownJob } from '../job/facts.ts'
import { spark } from '../parts/charts.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { accent, dim, type Line, lineWidth, type Piece, rule, spread, strong } from '../parts/line.ts'
import { type ServiceTab, serviceTabs } from '../shell/ui.ts'
import { aboutLines, deliveriesLines, type ServicesShown, schemaLines } from './lines.ts'

/** A listing with its newest jobs. `sales` is undefined until known. */
export type Sold = ServicesShown & { readonly sales: readonly Job[] | undefined }

const drawn: Readonly<Record<ServiceTab, (shown: Sold) => readonly Line[]>> = {
  about: aboutLines,
  schema: schemaLines,
  deliveries: deliveriesLines,
  sales: salesLines,
  json: ({ service }) => jsonLines(service.raw),
}

type Room = { readonly width: number; readonly height: number; readonly tab: ServiceTab }

/** The drawer below the list, in at most `height` rows. */
export function belowLines(shown: Sold, { width, height, tab }: Room): Line[] {
  const { id } = shown.service
  const lines = drawn[tab]({ ...shown, width })
  return [rule(width, id, tabWords(tab, width - id.length)), ...lines].slice(0, height)
}

/** The drawer beside the list. It has a row for its tabs. */
export function sideLines(shown: Sold, { width, height, tab }: Room): Line[] {
  const tabs = spread(width, [' ', ...tabWords(tab, width)], [dim('←→ ')])
  const whole: Line = [accent('enter'), dim(' whole screen')]
  return [rule(width, shown.service.id, whole), tabs, ...drawn[tab]({ ...shown, width })].slice(0, height)
}

function tabWords(current: ServiceTab, room: number): Line {
  const all = serviceTabs.flatMap((tab, i): Piece[] => [
    ...(i === 0 ? [] : ['  ']),
    tab === current ? strong(`[${tab}]`) : dim(tab),
  ])
  return lineWidth(all) + 7 <= room ? all : [strong(`[${current}]`)]
}

const BUYER_COLUMNS = 16
/** From this width each sale shows its id. */
const ID_FROM = 76

function salesLines({ service: { selling }, sales, now, width }: Sold): Line[] {
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
