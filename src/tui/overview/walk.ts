import { attentionWords } from '../../nouns/attention.ts'
import { accent, type Line } from '../parts/line.ts'
import { refuse, toItsJob } from '../shell/ask.ts'
import { byUrgency, type ListedCron } from '../shell/cron-facts.ts'
import type { Need } from '../shell/needs.ts'
import { placeOf } from '../shell/places.ts'
import type { Face, Host } from '../shell/screen.ts'
import type { LiveEvent } from '../shell/stream.ts'
import { goTo, type OverviewPanel } from '../shell/ui.ts'

/** Rows of the panels in which a row can be chosen. The Enter key in any other panel only opens a screen. */
export type Rows = {
  readonly needs: readonly Need[]
  readonly crons: readonly ListedCron[]
  readonly events: readonly LiveEvent[]
}

export function idsIn(panel: OverviewPanel, { needs, crons, events }: Rows): readonly string[] {
  if (panel === 'needs') return needs.map(({ id }) => id)
  if (panel === 'crons') return crons.toSorted(byUrgency).map(({ name }) => name)
  return panel === 'live' ? events.map(({ cursor }) => String(cursor)) : []
}

/** What keys of the overview act on. `panel` is read when the key is pressed. */
export type Walked = { readonly host: Host; readonly rows: Rows; readonly panel: () => OverviewPanel }

/** Actions that move the focus to the next or previous panel and choose its first row. */
export function panelActions(host: Host, panels: readonly OverviewPanel[]): Face['actions'] {
  const walk = (by: number) => () => {
    const ui = host.ui.get()
    const panel = panels[(panels.indexOf(ui.panel) + by + panels.length) % panels.length] ?? 'needs'
    const { overview: _left, ...chosen } = ui.chosen
    host.ui.set({ ...ui, panel, chosen })
  }
  return { nextPanel: walk(1), previousPanel: walk(-1) }
}

const screenOfPanel = { money: 'money', pulse: 'endpoints', work: 'jobs', calls: 'endpoints', crons: 'crons' } as const

/** Opens the screen of a panel, or the record of its chosen row. */
export function openPanel(
  { host, rows }: Walked,
  panel: Exclude<OverviewPanel, 'needs'>,
  id: string | undefined,
): void {
  if (panel === 'live') {
    openEvent(
      host,
      rows.events.find(({ cursor }) => String(cursor) === id),
    )
    return
  }
  const screen = screenOfPanel[panel]
  const ui = goTo(host.ui.get(), screen)
  host.ui.set(panel === 'crons' && id !== undefined ? { ...ui, chosen: { ...ui.chosen, crons: id } } : ui)
}

/** Opens what a problem is about: its record, else what its command shows, else the screen of its kind. */
export async function openNeed(host: Host, { kind, subject, fix, count }: Need): Promise<void> {
  const place = count === 1 ? placeOf(host, subject) : undefined
  if (place) place.go()
  else if (kind === 'cron') {
    const ui = goTo(host.ui.get(), 'crons')
    host.ui.set({ ...ui, chosen: { ...ui.chosen, crons: subject } })
  } else if (!(await host.openLine(RECEIPT.test(subject) ? `why ${subject}` : fix.replace(/^souk /, ''))))
    host.ui.set(goTo(host.ui.get(), attentionWords[kind].screen))
}
const RECEIPT = /^rcp_[0-9a-f]{16}$/

/** Opens the record of an event, or else the job that it names. */
function openEvent(host: Host, event: LiveEvent | undefined): void {
  const place = event && placeOf(host, event.subject)
  if (event === undefined) refuse(host, 'Nothing has happened yet.')
  else if (place) place.go()
  else toItsJob(host, [event.subject, event.detail])
}

/** Highlights the title of the focused panel. If no row can be chosen in the panel, `▌` marks the title. */
export function lit(lines: Line[], isWalked: boolean, hasRows = false): Line[] {
  const [head, ...rest] = lines
  if (!isWalked || head === undefined) return lines
  const at = head.findIndex((piece) => typeof piece !== 'string' && piece.tone === 'strong')
  const walked = head.map((piece, i) => (i === at && typeof piece !== 'string' ? accent(piece.text) : piece))
  const [bar, ...others] = walked
  const isSigned = !hasRows && at === 1 && bar !== undefined && typeof bar !== 'string'
  return [isSigned ? [{ ...bar, text: '▌ ' }, ...others] : walked, ...rest]
}
